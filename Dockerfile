# One image for the services and the operator: `node services/start.mjs`, `node operator/main.ts`.
#   docker build -t engram .                                      everything from public registries
#   docker build --secret id=npmrc,src=$HOME/.npmrc …             with the settings of another package registry
#   docker run -p 8000:8000 -v engram:/data engram                the embedded shape, complete
ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE} AS tools
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=secret,id=npmrc,target=/run/secrets/npmrc,required=false \
    NPM_CONFIG_USERCONFIG=/run/secrets/npmrc npm ci --no-audit --no-fund --cache /tmp/npm && rm -rf /tmp/npm

# The services as few files, see services/app/bundle.mjs.
FROM tools AS bundle
COPY proto/gen proto/gen
COPY services services
RUN node services/start.mjs bundle

FROM tools AS modules
# The image has Node: the packages that bring it along, the only optional ones, are left out. Types and source maps are of no
# use to a process; licences and all the code stay.
RUN npm prune --omit=dev --omit=optional --no-audit --no-fund \
 && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete
# What the image is made of, for scanners; npm writes CycloneDX by itself.
RUN npm sbom --package-lock-only --omit=dev --omit=optional --sbom-format=cyclonedx >sbom.cdx.json

FROM ${NODE_IMAGE}
ARG VERSION=0.0.0-dev
LABEL org.opencontainers.image.title="Engram" \
      org.opencontainers.image.description="A knowledge-memory service and its operator" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"
WORKDIR /app
# As root, for a user who may not write it: nothing that runs here can change the code.
COPY --from=modules /app/package.json /app/sbom.cdx.json ./
COPY --from=modules /app/node_modules node_modules
COPY LICENSE ./
COPY proto/gen proto/gen
COPY services services
COPY operator operator
COPY --from=bundle /app/node_modules/.cache/bundle node_modules/.cache/bundle
COPY --from=bundle /app/node_modules/.cache/console node_modules/.cache/console
RUN ln -s /app/services/cli/engram.mjs /usr/local/bin/engram
RUN install -d -o 1000 -g 1000 /data node_modules/.cache/engram
USER 1000:1000
ENV NODE_ENV=production \
    ENGRAM_DATA_DIR=/data \
    HTTP_API_HOST=0.0.0.0
# Compiled as the user and with the flags of the processes that run later, which may start from a read-only file system.
RUN node --max-semi-space-size=8 services/start.mjs bundle \
 && NODE_COMPILE_CACHE=/app/node_modules/.cache/engram node --max-semi-space-size=8 --eval \
    "await Promise.all(['operator.ts', 'installation/services.ts', 'dedicated/services.ts', 'stores/dedicated-stores.ts'].map((file) => import('/app/operator/' + file)))"
VOLUME /data
EXPOSE 8000
ENTRYPOINT ["node", "--max-semi-space-size=8"]
CMD ["services/start.mjs"]
