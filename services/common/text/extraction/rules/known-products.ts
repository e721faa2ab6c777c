const lines = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s*[,\n]\s*/u));

/** Programs, libraries, services and devices whose names mean nothing else. Lower case. */
const PRODUCTS = lines(`
  docker, docker compose, docker swarm, kubernetes, openshift, podman, containerd, traefik, nginx, haproxy, envoy proxy, istio, linkerd
  ansible, terraform, opentofu, pulumi, packer, jenkins, github actions, gitlab ci, circleci, travis ci, argo cd, argocd, fluxcd, tekton
  github, gitlab, bitbucket, gitea, forgejo, codeberg, jira, confluence, trello, asana, redmine, youtrack, clickup, basecamp, airtable
  postgresql, postgres, postgis, timescaledb, mysql, mariadb, sqlite, mongodb, mongoose, couchdb, cassandra, scylladb, dynamodb, redis
  valkey, memcached, neo4j, elasticsearch, opensearch, meilisearch, typesense, clickhouse, duckdb, influxdb, snowflake, bigquery
  cockroachdb, firestore, firebase, supabase, planetscale, qdrant, weaviate, milvus, pgvector, chromadb, rabbitmq, kafka, apache kafka
  nats, mosquitto, activemq, celery, sidekiq, bullmq, temporal.io, airflow, apache airflow, dagster, dbt, apache spark, flink, hadoop
  keycloak, auth0, okta, ory kratos, authentik, authelia, vaultwarden, bitwarden, 1password, keepass, keepassxc, lastpass
  grafana, prometheus, loki, jaeger, zipkin, opentelemetry, datadog, sentry, kibana, logstash, fluentd, fluent bit, splunk, pagerduty
  opsgenie, new relic, nagios, zabbix, uptime kuma, statuspage, grafana cloud, alertmanager, cloudwatch, graylog, dynatrace, honeycomb.io
  node.js, nodejs, deno, typescript, javascript, python, kotlin, golang, php, haskell, scala, clojure, elixir, erlang, fortran, cobol
  c++, c#, .net, asp.net, objective-c, webassembly, html, css, sql, graphql, grpc, protobuf
  react native, react.js, reactjs, next.js, nextjs, vue.js, nuxt, nuxt.js, svelte, sveltekit, angularjs, ember.js, solidjs, qwik, htmx, alpine.js
  jquery, tailwind css, tailwindcss, tailwind, sass, redux, zustand, vite, webpack, rollup, esbuild, turborepo, babel.js, eslint, biome.js, vitest
  jest, cypress, playwright, selenium, puppeteer, storybook, pytest, junit, mocha.js, testcontainers, three.js, d3.js, leaflet.js, mapbox
  fastify, express.js, nestjs, koa.js, hono, django, fastapi, ruby on rails, laravel, symfony, spring boot, quarkus, micronaut, phoenix liveview
  drizzle orm, drizzle, prisma, typeorm, sequelize, sqlalchemy, hibernate, alembic, flyway, liquibase, knex.js, mikroorm
  pandas, numpy, scipy, scikit-learn, tensorflow, pytorch, keras, jupyter, jupyterlab, matplotlib, hugging face, langchain, llamaindex, ollama
  chatgpt, gpt-4, gpt-4o, claude code, github copilot, midjourney, stable diffusion, whisper api, mlflow, wandb
  aws, amazon web services, amazon s3, amazon ec2, aws lambda, amazon rds, amazon elasticache, amazon eks, google cloud, gcp, azure
  microsoft azure, heroku, vercel, netlify, fly.io, cloudflare workers, cloudflare pages, cloudfront, backblaze b2, minio, nextcloud, owncloud
  github container registry, docker hub, npm, pnpm, yarn berry, homebrew, pip, cargo.io, maven, gradle, bazel, cmake
  linux, ubuntu, debian, fedora linux, arch linux, alpine linux, centos, nixos, raspberry pi os, freebsd, windows 10, windows 11, macos, ios, ipados
  android, chromeos, proxmox, truenas, openwrt, pfsense, vmware, virtualbox, wireguard, openvpn, tailscale, zerotier, pi-hole, adguard home
  home assistant, node-red, zigbee2mqtt, esphome, openhab, homebridge, zwave js, homekit, philips hue, sonos one, chromecast, apple tv
  vs code, vscode, visual studio code, visual studio, intellij, intellij idea, pycharm, webstorm, xcode, android studio, neovim, emacs, sublime text
  notepad++, eclipse ide, postman, insomnia rest, dbeaver, pgadmin, tableplus, wireshark, figma, adobe xd, inkscape, gimp, krita, blender 3d
  photoshop, adobe photoshop, lightroom, adobe lightroom, adobe illustrator, indesign, adobe indesign, affinity designer, affinity photo
  procreate, canva, coreldraw, premiere pro, final cut pro, davinci resolve, ableton live, logic pro, garageband, musescore, audacity, obs studio
  autocad, solidworks, fusion 360, freecad, sketchup, revit, rhino 3d, openscad, prusaslicer, cura slicer, kicad, altium designer, matlab, simulink, labview
  latex, overleaf, zotero, mendeley, endnote, obsidian.md, evernote, onenote, google docs, google sheets, google drive, google calendar, google maps
  google meet, google forms, gmail, google photos, dropbox, onedrive, sharepoint, icloud, microsoft teams, ms teams, microsoft word, microsoft excel
  microsoft outlook, powerpoint, microsoft 365, office 365, libreoffice, openoffice, whatsapp, telegram messenger, mattermost, rocket.chat
  google analytics, matomo, plausible analytics, hubspot, mailchimp, sendgrid, postmark app, twilio, zendesk, freshdesk, zapier, n8n, shopify, woocommerce
  magento, wordpress, drupal, joomla, ghost cms, strapi, contentful, sanity.io, directus, squarespace, wix, quickbooks, xero, datev, lexoffice
  iphone, ipad, ipad pro, ipad air, ipad mini, macbook, macbook pro, macbook air, imac, mac mini, apple watch, airpods, airpods pro, airtag, kindle
  kobo, playstation, playstation 5, ps5, xbox, xbox series x, nintendo switch, steam deck, raspberry pi, arduino, thinkpad, surface pro, chromebook
  google pixel, pixel 8, pixel 9, samsung galaxy, galaxy s24, fairphone, gopro, garmin fenix, fitbit, echo dot, fire tv, roomba, thermomix, brompton
  photoprism, immich, jellyfin, kodi, paperless-ngx, plex media server, calibre, anki, duolingo, strava, komoot, goodreads, letterboxd`);

/** The same, where the names are ordinary words or names of others as well: they count beside another product. Lower case. */
const AMBIGUOUS = lines(`
  react, angular, vue, nuxt, express, flask, rails, spring, phoenix, ember, gin, hono, koa, helm, vault, consul, nomad, chef, puppet, salt, go, rust
  ruby, swift, java, dart, flutter, julia, r, perl, lua, zig, slack, discord, zoom, notion, linear, miro, teams, excel, word, outlook, safari
  chrome, firefox, edge, signal, telegram, sketch, blender, illustrator, premiere, audition, maya, rhino, eclipse, insomnia, bun, babel, jest, mocha
  storybook, prisma, sanity, ghost, temporal, istio, envoy, flux, argo, harbor, rancher, longhorn, ceph, caddy, apache, tomcat, jetty, stripe
  lambda, s3, ec2, rds, eks, gke, backblaze, cloudflare, codespaces, windows, mac, plex, sonarr, obsidian, logseq, todoist, things, bear, pocket`);

/** Behind the name of a product: `PostgreSQL 16`, `iPhone 15 Pro`, `ThinkPad X1`. */
const VERSION = /(?: (?:v?\d[\d.]*|LTS|\p{Lu}\d{1,4}\p{L}?|Pro|Max|Plus|Mini|Ultra|SE)){1,3}$/u;

function withoutVersion(name: string): string {
  return name.replace(VERSION, '').toLowerCase();
}

/** Whether a name, with or without its version, is one of a known product: `PostgreSQL 16`. */
export function isKnownProduct(name: string): boolean {
  return PRODUCTS.has(name.toLowerCase()) || PRODUCTS.has(withoutVersion(name));
}

/** Whether it is one of a product where the text speaks of others: `React`, `Go`. */
export function mayBeProduct(name: string): boolean {
  return AMBIGUOUS.has(withoutVersion(name));
}
