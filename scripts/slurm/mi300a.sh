#!/usr/bin/env bash
# One APU of an MI300A node: sbatch --partition=NAME scripts/slurm/mi300a.sh [options]
#SBATCH --job-name=icobench
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --gpus=1
#SBATCH --cpus-per-task=24
#SBATCH --time=00:30:00
set -euo pipefail
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK OMP_PROC_BIND=close
cd "$SLURM_SUBMIT_DIR"
# Cores and memory of the APU whose GPU is used.
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" --cpu-bind=cores --gpu-bind=closest scripts/bench "$@"
