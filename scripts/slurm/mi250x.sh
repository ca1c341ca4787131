#!/usr/bin/env bash
# One die of an MI250X, as on LUMI: sbatch --account=PROJECT scripts/slurm/mi250x.sh [options]
#SBATCH --job-name=icobench
#SBATCH --partition=small-g
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --gpus=1
#SBATCH --cpus-per-task=7
#SBATCH --time=00:30:00
set -euo pipefail
module load LUMI partition/G rocm # the modules that the build used
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK OMP_PROC_BIND=close
cd "$SLURM_SUBMIT_DIR"
# Without root scripts/setup only names what is missing: build once where the modules are.
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" --cpu-bind=cores scripts/bench "$@"
