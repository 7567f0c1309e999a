"""How much of a difference between two cases is chance? Runs a small comparison with several seeds and shows it.

python examples/seeds.py
"""

from statistics import mean, stdev

import interpulse

SEEDS = range(1, 6)


def main() -> None:
    """Prints the mean and the standard error of a few figures of every case over the seeds."""
    config = interpulse.Config.load("examples/small.toml")
    runs = [interpulse.run(config, seed=seed) for seed in SEEDS]
    print(f"{'case':<16}{'IOPS':>20}{'read mean, us':>20}{'read p99.9, us':>20}")
    for cases in zip(*(run.cases for run in runs), strict=True):
        figures = (
            [case.iops for case in cases],
            [case.latency_us["read"]["mean"] for case in cases],
            [case.percentile("read", 99.9) for case in cases],
        )
        cells = [f"{mean(values):,.1f} ± {stdev(values) / len(values) ** 0.5:,.1f}" for values in figures]
        print(f"{cases[0].case:<16}" + "".join(f"{cell:>20}" for cell in cells))


if __name__ == "__main__":
    main()
