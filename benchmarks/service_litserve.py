"""The same task behind LitServe, for comparison: `python service_litserve.py TASK PORT WORKERS`."""

import base64
import sys
from typing import Any

import litserve
import torch

from samovar import FewShotClassifier
from samovar.data.images.image_file import ImageFile


class Answers(litserve.LitAPI):  # type: ignore[misc]
    """Answers one photograph, sent as base64 in JSON, as LitServe's examples do."""

    def setup(self, device: str) -> None:  # noqa: ARG002 - LitServe calls it so
        """Load the task."""
        torch.set_num_threads(1)
        self.classifier = FewShotClassifier.load(sys.argv[1])

    def decode_request(self, request: dict[str, str]) -> bytes:
        """Return the bytes of the photograph."""
        return base64.b64decode(request["image"])

    def predict(self, x: bytes) -> Any:
        """Answer it."""
        return self.classifier.answer([ImageFile("photo", lambda: x)])

    def encode_response(self, output: Any) -> dict[str, Any]:
        """Return the answer as JSON."""
        return {
            "label": str(output.labels[0]),
            "probabilities": output.probabilities[0].tolist(),
            "rejected": bool(output.rejected[0]),
        }


if __name__ == "__main__":
    server = litserve.LitServer(
        Answers(), accelerator="cpu", workers_per_device=int(sys.argv[3]), timeout=60
    )
    server.run(port=int(sys.argv[2]), host="127.0.0.1", generate_client_file=False)
