"""A report of `samovar check` with something of every kind."""

from samovar.classifier.check_report import (
    CheckReport,
    Duplicates,
    MixedClasses,
    SmallClass,
    SuspectLabel,
)
from samovar.prediction.changed_camera import CameraChange

FULL = CheckReport(
    30,
    (SuspectLabel("cat/<b>.jpg", "cat", "dog", 0.9, 0.05),),
    (Duplicates(("a.jpg", "b.jpg"), ("cat", "dog")), Duplicates(("c.jpg", "d.jpg"), ("x", "x"))),
    (MixedClasses("pear", "quince", 5, 12),),
    (SmallClass("plum", 1), SmallClass("fig", 2)),
    CameraChange(0.001, 3.0),
)
