# The image of Granary: `docker build -t granary .`, and docs/install.md says how to run it.
FROM node:24-trixie-slim AS build
WORKDIR /src
# The packages form a layer of their own: it is used again while the lockfile stays the same.
COPY package.json package-lock.json .npmrc ./
COPY scripts/prune-packages.mjs scripts/
RUN npm ci
COPY . .
RUN npm run -s build && npm exec -c "node scripts/lay-out.ts /out"

FROM debian:trixie-slim
COPY --from=build /out /
# The folders of the volumes. A user by number needs no account.
RUN install -d -m 0700 -o 10001 -g 10001 /var/lib/granary \
    /var/lib/granary/data /var/lib/granary/data/keys /var/lib/granary/backups
# MALLOC_MMAP_THRESHOLD_: large freed blocks go back to the system. Otherwise hundreds of megabytes stay resident after large
# imports.
ENV NODE_ENV=production \
    MALLOC_MMAP_THRESHOLD_=65536 \
    GRANARY_HOST=0.0.0.0 \
    GRANARY_DATA_DIR=/var/lib/granary/data
USER 10001:10001
# Keys lie in a volume of their own, so that no copy of the data can be read without them.
VOLUME ["/var/lib/granary/data", "/var/lib/granary/data/keys"]
EXPOSE 8080 50051
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=15s --start-period=60s CMD ["granary", "health"]
# Node is the first process, and gets the signals itself.
ENTRYPOINT ["/usr/lib/granary/bin/node", "/usr/lib/granary/dist/cli/main.js"]
CMD ["serve"]
