"""Limits of memory and of what packed files hold: nothing changes but where the rows lie."""

import os
import random
import resource
import signal
import subprocess

from charters import block, charter, number, policy, write
from parley import BINARY, InFolder, main

ROWS, COLUMNS = 9000, 13  # 1.2 MB as dense rows, 1.6 MB as sparse ones
NAMES = [f"x{i}" for i in range(1, COLUMNS + 1)]


class Limits(InFolder):
    def setUp(self):
        super().setUp()
        chance = random.Random(4)
        rows = [[round(chance.gauss(0, 1), 3) for _ in range(COLUMNS + 1)] for _ in range(ROWS)]
        lines = [",".join(["y", *NAMES]), *(",".join(map(str, row)) for row in rows)]
        (self.folder / "d.csv").write_text("\n".join(lines) + "\n")
        (self.folder / "d.libsvm").write_text("".join(
            f"{y} " + " ".join(f"{i}:{x}" for i, x in enumerate(z, 1)) + "\n" for y, *z in rows))
        target = {"column": "y", "bounds": [-3, 3]}
        columns = [number(name, -3, 3, 0) for name in NAMES]
        for loss in ["squared", "huber"]:
            write(self.folder, f"{loss}.toml", charter(target, columns, {"bank": ROWS}, loss=loss))

    def model(self, charter_file, data, out, *more):
        self.parley("--quiet", "simulate", charter_file, "--data", f"bank={data}", "--out", out, *more)
        return [(self.folder / out / file).read_bytes() for file in ["model.json", "result.json"]
                if (self.folder / out / file).exists()]

    def test_rows_in_a_file_give_the_same_model_byte_for_byte(self):
        for loss in ["squared", "huber"]:
            for data in ["d.csv", "d.libsvm"]:
                with self.subTest(loss=loss, data=data):
                    name = f"{loss}-{data}"
                    in_memory = self.model(f"{loss}.toml", data, name)
                    in_file = self.model(f"{loss}.toml", data, f"{name}-1", "--memory-mb", "1")
                    self.assertEqual(in_memory, in_file)

    def peak(self, *command):
        """Most memory that the command took, in MB."""
        process = subprocess.Popen([BINARY, "--quiet", *command], cwd=self.folder,
                                   stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        return usage.ru_maxrss / 1024

    def test_rows_in_a_file_stay_out_of_memory_also_for_optima_and_metrics(self):
        rows, columns = 40_000, 128  # 41 MB
        chance = random.Random(5)
        lines = [",".join([str(i % 2), *(f"{chance.gauss(0, 1):.2f}" for _ in range(columns))]) + "\n"
                 for i in range(400)]
        names = [f"x{i}" for i in range(columns)]
        with open(self.folder / "large.csv", "w", encoding="ascii") as file:  # not in our memory,
            file.write(",".join(["y", *names]) + "\n")                        # which a child's counts
            file.writelines(chance.choice(lines) for _ in range(rows))
        for loss in ["squared", "logistic"]:
            target = {"column": "y", "levels": ["0", "1"]} if loss == "logistic" else \
                {"column": "y", "bounds": [0, 1]}
            write(self.folder, "large.toml", charter(
                target, [number(name, -3, 3, 0) for name in names], {"bank": rows}, loss=loss))
            command = ["simulate", "large.toml", "--data", "bank=large.csv", "--out"]
            in_memory = self.peak(*command, f"{loss}-in-memory")
            in_file = self.peak(*command, f"{loss}-in-file", "--memory-mb", "5")
            self.assertLess(in_file, in_memory - 20, loss)

    def test_a_full_disk_is_an_error_that_says_what_to_do(self):
        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        for data in ["d.csv", "d.libsvm"]:
            command = [BINARY, "simulate", "squared.toml", "--data", f"bank={data}", "--memory-mb", "1",
                       "--out", "out"]
            done = subprocess.run(command, cwd=self.folder, preexec_fn=small_files, text=True,
                                  capture_output=True, timeout=100, check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(data, done.stderr)
            self.assertIn("cannot grow: File too large", done.stderr)
            self.assertIn("--memory-mb", done.stderr)

    def test_a_packed_file_that_holds_too_much_is_refused_with_its_name_and_the_key(self):
        for data in ["d.csv", "d.libsvm"]:
            subprocess.run(["zstd", "-q", data, "-o", f"{data}.zst"], cwd=self.folder, check=True)
            source = {"source": data[2:], "path": f"{data}.zst"}
            accepted = policy("bank", source)
            write(self.folder, "p.toml", accepted)
            self.parley("simulate", "squared.toml", "--policy", "p.toml", "--out", "good")
            write(self.folder, "p.toml", accepted + block("[limits]", {"unpacked_gb": 0.0005}))
            for command in [["simulate", "squared.toml"],
                            ["data", "describe", "--charter", "squared.toml"]]:
                done = self.parley(*command, "--policy", "p.toml", expect=2)
                self.assertIn(f"{data}.zst", done.stderr)
                self.assertIn("unpacks to more than 536870 bytes", done.stderr)
                self.assertIn("limits.unpacked_gb", done.stderr)


if __name__ == "__main__":
    main()
