# samovar serve in a container:
#
#     docker build --tag samovar .
#     docker run --rm --publish 8000:8000 --volume samovar-tasks:/tasks --env SAMOVAR_TOKEN samovar
#
# The token is taken from your environment and must have 16 characters or more; the server does not start without
# one, since others can reach a published port.
FROM python:3.12-slim

# A processor is enough, and this index has torch without the gigabytes of CUDA.
ENV PIP_NO_CACHE_DIR=1 PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu
WORKDIR /samovar
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
RUN pip install --constraint constraints.txt '.[serve,heic]' \
    && useradd --system --create-home samovar \
    && install --directory --owner samovar /tasks

USER samovar
VOLUME /tasks
EXPOSE 8000
HEALTHCHECK CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz')"]
ENTRYPOINT ["samovar", "serve", "--host", "0.0.0.0", "--tasks", "/tasks"]
