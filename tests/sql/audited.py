"""`parley audit --sql`: the attack that certifies an epsilon of an owner's own code, with the owner's records in SQLite
and its sums made by the statement. Started by `scripts/check sql`. Each certificate is wrong with probability below
1e-6."""

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support")]
from charters import charter, number, write  # noqa: E402
from parley import BINARY, InFolder, main  # noqa: E402

RUNS = 1000
COLUMNS = [number("a", -1, 1, 0), number("b", -1, 1, 0)]
NUMBER = {"column": "y", "bounds": [-1, 1]}
CLASSES = {"column": "y", "levels": ["no", "yes"]}


class Audited(InFolder):
    def attacked(self, loss, target, privacy, epsilon):
        text = charter(target, COLUMNS, {"bank": 1000}, {"evaluate": 0.0, **privacy}, loss)
        text = text.replace("rounds = 3", "rounds = 2").replace("epsilon = 1.0", f"epsilon = {epsilon}")
        write(self.folder, "c.toml", text)
        done = subprocess.run([BINARY, "--json", "--quiet", "audit", "c.toml", "--sql", "--runs", str(RUNS)],
                              cwd=self.folder, text=True, capture_output=True, timeout=3000, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def test_every_loss_and_both_norms_pass_and_four_units_are_flagged(self):
        gaussian = {"mechanism": "gaussian", "delta": 1e-5}
        for loss, target, privacy, epsilon in [("squared", NUMBER, {}, 2), ("huber", NUMBER, gaussian, 4),
                                               ("logistic", CLASSES, gaussian, 4), ("hinge", CLASSES, {}, 2)]:
            with self.subTest(loss):
                found = self.attacked(loss, target, privacy, epsilon)
                certified = max(number or 0 for number in found["certified_epsilon"].values())
                control = found["power"]["certified_epsilon"]
                print(f"{loss}, {privacy.get('mechanism', 'laplace')}: claimed {epsilon}, certified {certified:.3f}, four "
                      f"units {control:.3f}", flush=True)
                self.assertLessEqual(certified, epsilon * (1 + 1e-9))
                self.assertGreater(certified, 0)
                self.assertGreater(control, epsilon)


if __name__ == "__main__":
    main()
