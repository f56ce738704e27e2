"""Flags give exactly the settings that they were made of."""

import tyro
from hypothesis import given
from hypothesis import strategies as st

from samovar.settings.flags import flags_for
from samovar.settings.tasks import Protocol


@given(
    st.builds(
        Protocol,
        way=st.integers(2, 50),
        shot=st.integers(1, 50),
        queries=st.integers(1, 50),
        pooled_queries=st.booleans(),
        episodes=st.integers(1, 9999),
        seed=st.integers(0, 10**12),
        split=st.sampled_from(["test", "val", "train"]),
        norm=st.sampled_from(["as trained", "running", "episode"]),
        quasi=st.booleans(),
    )
)
def test_flags_lead_back_to_the_settings(protocol):
    assert tyro.cli(Protocol, args=flags_for(Protocol(), protocol)) == protocol
