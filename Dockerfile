# Made from the archive of `npm run release`. To pin the base image: --build-arg BASE=debian:trixie-slim@sha256:…
ARG BASE=debian:trixie-slim

FROM ${BASE} AS archive
ARG TARGETARCH
COPY dist/release/*.tar.gz /
# Docker calls x64 amd64.
RUN tar -xzf /plant-store-*-linux-"$(echo "$TARGETARCH" | sed s/amd64/x64/)".tar.gz && mv /plant-store-*/ /app

FROM ${BASE}
ENV PLANT_STORE_HOST=0.0.0.0 \
    PLANT_STORE_PORT=3000 \
    PLANT_STORE_DATABASE=/data/plants.db \
    # Docker kills a container 10 seconds after asking it to stop.
    PLANT_STORE_SHUTDOWN_TIMEOUT=8s \
    # The root file system can be read-only, and SQLite sorts large indexes in a file.
    SQLITE_TMPDIR=/data \
    # The health check runs Node without the program that sets this.
    LD_LIBRARY_PATH=/app/node/lib
WORKDIR /app
COPY --from=archive /app .
RUN ln -s /app/plant-store /usr/local/bin/plant-store && install -d -m 700 -o 1000 -g 1000 /data
# As numbers, because Kubernetes cannot verify that a name is not root's.
USER 1000:1000
VOLUME /data
EXPOSE 3000
# The certificate is for the public name, so the check over loopback cannot verify it.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["/app/node/bin/node", "-e", \
  "const { PLANT_STORE_TLS_CERTIFICATE: tls, PLANT_STORE_PORT: port } = process.env; \
  require(tls ? 'https' : 'http') \
    .get({ host: '127.0.0.1', port, path: '/health/ready', rejectUnauthorized: false }) \
    .on('response', ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)) \
    .on('error', () => process.exit(1))"]
ENTRYPOINT ["plant-store"]
