# To pin the base image: --build-arg BASE=node:26-slim@sha256:…
ARG BASE=node:26-slim

FROM ${BASE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts

FROM ${BASE} AS page
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN node scripts/build-page.ts

FROM ${BASE}
ENV PLANT_STORE_HOST=0.0.0.0 \
    PLANT_STORE_PORT=3000 \
    PLANT_STORE_DATABASE=/data/plants.db \
    # Docker kills a container 10 seconds after asking it to stop.
    PLANT_STORE_SHUTDOWN_TIMEOUT=8s \
    # The root file system can be read-only, and SQLite sorts large indexes in a file.
    SQLITE_TMPDIR=/data
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=page /app/dist dist
COPY package.json openapi.yaml ./
COPY bin bin
COPY client client
COPY contract contract
COPY formats formats
COPY service service
COPY src src
COPY time time
RUN ln -s /app/bin/plant-store.js /usr/local/bin/plant-store && install -d -m 700 -o 1000 -g 1000 /data
# As numbers, because Kubernetes cannot verify that a name is not root's. node:26-slim calls this user `node`.
USER 1000:1000
VOLUME /data
EXPOSE 3000
# The certificate is for the public name, so the check over loopback cannot verify it.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "-e", \
  "const { PLANT_STORE_TLS_CERTIFICATE: tls, PLANT_STORE_PORT: port } = process.env; \
  require(tls ? 'https' : 'http') \
    .get({ host: '127.0.0.1', port, path: '/health/ready', rejectUnauthorized: false }) \
    .on('response', ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)) \
    .on('error', () => process.exit(1))"]
ENTRYPOINT ["plant-store"]
