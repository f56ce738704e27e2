"""Tables 3 to 5: miniImageNet needs GPUs, the others are trained with and without augmentation."""

from samovar.experiments.paper.tables3to5 import TABLE3, TABLE4, TABLE5
from samovar.settings.paper import AUGMENTED


def test_table_3_is_not_trained_at_cpu_scale():
    assert all(cell.needs_gpu for cell in TABLE3.cells("cpu"))
    assert not any(cell.needs_gpu for cell in TABLE3.cells("paper"))
    assert {cell.settings.data.name for cell in TABLE3.cells("cpu")} == {"miniimagenet"}


def test_augmentation_is_compared_with_none_at_cpu_scale():
    for experiment, data in ((TABLE4, "fc100"), (TABLE5, "cifar_fs")):
        cells = experiment.cells("cpu")
        assert [cell.settings.augmentation.flip for cell in cells] == [True, False, True, False]
        assert [cell.method for cell in cells] == ["augmented", "plain"] * 2
        assert {cell.settings.data.name for cell in cells} == {data}
        published = [cell.published for cell in cells]
        assert published == [AUGMENTED[data].at(5), None, AUGMENTED[data].at(1), None]
