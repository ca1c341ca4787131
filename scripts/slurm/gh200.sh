#!/usr/bin/env bash
# One GH200 or H200, exclusively: sbatch --account=PROJECT scripts/slurm/gh200.sh [options]
#SBATCH --job-name=icobench
#SBATCH --nodes=1
#SBATCH --exclusive
#SBATCH --ntasks=1
#SBATCH --gpus-per-task=1
#SBATCH --time=00:30:00
set -euo pipefail
cd "$SLURM_SUBMIT_DIR"
srun --cpu-bind=none scripts/bench "$@"
