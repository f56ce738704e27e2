"""The paper's tables and figures reproduced, ours beside the published, and a few that go beyond it."""
