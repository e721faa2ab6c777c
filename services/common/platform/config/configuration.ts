import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { MailServer } from '../../domain/mail-server.ts';
import { SERVICE_NAMES, type ServiceName } from '../../domain/service-paths.ts';
import { chooseEmbedding, chooseLanguageModel, lacksKey, type ModelSettings } from './model-choice.ts';
import { type OidcProvider, readOidcProviders } from './oidc-providers.ts';
import { type AuthPosture, decidePosture, isLoopback } from './posture.ts';
import type { StoreShape } from './settings/stores.ts';
import type { SettingValues } from './settings.ts';

export interface StoreSettings {
  readonly documents: StoreShape;
  readonly blobs: StoreShape;
  readonly index: StoreShape;
  readonly graph: StoreShape;
  readonly bus: StoreShape;
}

/** The settings with everything decided that follows from them. */
export interface Config
  extends Omit<
    SettingValues,
    | 'oidcProviders'
    | 'smtpHost'
    | 'smtpPort'
    | 'smtpTls'
    | 'smtpCaFile'
    | 'smtpUser'
    | 'smtpPassword'
    | 'mailFrom'
    | 'smtpTimeoutMs'
    | 'oidcClientSecrets'
    | 'host'
    | 'port'
    | 'services'
    | 'documents'
    | 'blobs'
    | 'index'
    | 'graph'
    | 'bus'
    | 'autoMigrations'
    | 'corsAllowedOrigins'
  > {
  readonly host: string;
  readonly port: number;
  readonly services: readonly ServiceName[];
  readonly stores: StoreSettings;
  readonly autoMigrations: boolean;
  readonly posture: AuthPosture;
  /** Origins whose pages may call the API; may hold `*`. */
  readonly corsOrigins: readonly string[];
  readonly oidcProviders: readonly OidcProvider[];
  /** Null: no mails. */
  readonly mailServer: MailServer | null;
  /** Null: no language model, the rules do its work. */
  readonly languageModel: ModelSettings | null;
  /** Null: the built-in embedder. */
  readonly embedding: ModelSettings | null;
}

const PORT = 8000;
/** Port of agent mode, so that the server of a program does not take the port of the one for people. */
const AGENT_PORT = 8011;

/** Derives the configuration from the values; problems that concern several settings are added to `problems`. */
export function completeConfig(values: SettingValues, problems: string[]): Config {
  const stores = chooseStores(values);
  const isEmbedded = Object.values(stores).includes('embedded');
  const services = values.services ?? SERVICE_NAMES;
  if (isEmbedded && services.length < SERVICE_NAMES.length) {
    problems.push(
      `ENGRAM_SERVICES: a part of the services (${services.join(', ')}) needs cluster stores, because only one process can own an embedded store. Leave it unset, or set ENGRAM_STORES=cluster.`,
    );
  }
  problems.push(...missingAddresses(values, stores));
  const host = values.host ?? (isEmbedded ? '127.0.0.1' : '0.0.0.0');
  const { accessControl, requireAuthentication } = values;
  const { oidcClientSecrets: _, ...kept } = values;
  return {
    ...kept,
    dataDir: resolve(values.dataDir),
    host,
    port: values.port ?? (values.agentMode ? AGENT_PORT : PORT),
    services,
    stores,
    autoMigrations: values.autoMigrations ?? isEmbedded,
    posture: decidePosture({ accessControl, requireAuthentication, host }),
    corsOrigins: values.corsAllowedOrigins ?? [new URL(values.uiAppUrl).origin],
    oidcProviders: readOidcProviders(values, problems),
    mailServer: chooseMailServer(values, problems),
    languageModel: chooseLanguageModel(values, problems),
    embedding: chooseEmbedding(values, problems),
  };
}

function chooseStores(values: SettingValues): StoreSettings {
  const preset = values.storeShape;
  return {
    documents: values.documents ?? preset,
    blobs: values.blobs ?? preset,
    index: values.index ?? preset,
    graph: values.graph ?? preset,
    bus: values.bus ?? preset,
  };
}

/** A store in the cluster needs to know where its server is. */
function missingAddresses(values: SettingValues, stores: StoreSettings): string[] {
  const isCluster = (...ports: readonly (keyof StoreSettings)[]) => ports.some((port) => stores[port] === 'cluster');
  const needs = [
    {
      name: 'ENGRAM_MONGODB_URL',
      value: values.mongodbUrl,
      needed: isCluster('documents') || (isCluster('blobs') && values.s3Bucket === undefined),
    },
    { name: 'ENGRAM_ELASTICSEARCH_URL', value: values.elasticsearchUrl, needed: isCluster('index') },
    { name: 'ENGRAM_NEO4J_URL', value: values.neo4jUrl, needed: isCluster('graph') },
    { name: 'ENGRAM_NATS_URL', value: values.natsUrl, needed: isCluster('bus') },
  ];
  return needs
    .filter(({ needed, value }) => needed && value === undefined)
    .map(
      ({ name }) =>
        `${name}: must be set, because ENGRAM_STORES (or an override of it) puts a store there. Set it, or leave that out to keep everything in files.`,
    );
}

/** Advice on a configuration that works, but perhaps not as meant. */
export function adviseOn(config: Config): readonly string[] {
  const advice: string[] = [];
  if (config.posture.reason.startsWith('forced on')) {
    advice.push(
      'REQUIRE_AUTHENTICATION=false is ignored while access control is on. Set ENABLE_BACKEND_ACCESS_CONTROL=false too to serve without authentication.',
    );
  }
  if (config.posture.guarded && config.corsOrigins.includes('*')) {
    advice.push(
      'CORS_ALLOWED_ORIGINS=* has no effect without authentication: any web page could read this memory. List the origins, or require authentication.',
    );
  }
  if (config.embedding !== null && lacksKey(config.embedding)) {
    advice.push(
      `EMBEDDING_PROVIDER: ${config.embedding.provider} has no key, so nothing can be embedded. Set EMBEDDING_API_KEY or EMBEDDING_ENDPOINT, or unset it for the built-in embedder.`,
    );
  }
  if (config.agentMode && config.stores.documents === 'cluster') {
    advice.push('COGNEE_AGENT_MODE does not stop a process in a cluster: connections of others are in the same store.');
  }
  if (config.acceptLocalFilePath && config.allowedLocalFileRoots.length === 0) {
    advice.push(
      'ACCEPT_LOCAL_FILE_PATH is on, but COGNEE_ALLOWED_LOCAL_FILE_ROOTS lists no directory: no path is accepted.',
    );
  }
  return advice;
}

const PORTS = { starttls: 587, tls: 465, none: 25 } as const;

/** The mail server that is configured, null for none; what is wrong with it is added to `problems`. */
function chooseMailServer(values: SettingValues, problems: string[]): MailServer | null {
  const { smtpHost: host, smtpTls: tls, smtpUser: user, smtpPassword: password, mailFrom: from } = values;
  if (host === undefined) {
    const needless = Object.entries({ ENGRAM_SMTP_USER: user, ENGRAM_SMTP_PASSWORD: password, ENGRAM_MAIL_FROM: from });
    for (const [name, value] of needless) {
      if (value !== undefined)
        problems.push(`${name}: has no effect without ENGRAM_SMTP_HOST. Set that, or unset this.`);
    }
    return null;
  }
  if (from === undefined)
    problems.push('ENGRAM_MAIL_FROM: must be set, because ENGRAM_SMTP_HOST is: mails need a sender.');
  if ((user === undefined) !== (password === undefined)) {
    problems.push('ENGRAM_SMTP_USER, ENGRAM_SMTP_PASSWORD: set both or none.');
  }
  if (password !== undefined && tls === 'none' && !isLoopback(host)) {
    problems.push('ENGRAM_SMTP_TLS: none would send the password of ENGRAM_SMTP_USER unencrypted.');
  }
  return {
    host,
    port: values.smtpPort ?? PORTS[tls],
    tls,
    from: from?.trim() ?? '',
    timeoutMs: values.smtpTimeoutMs,
    login: user === undefined || password === undefined ? null : { user, password },
    certificateAuthority: values.smtpCaFile === undefined ? null : readCertificate(values.smtpCaFile, problems),
  };
}

function readCertificate(path: string, problems: string[]): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unreadable';
    problems.push(`ENGRAM_SMTP_CA_FILE: ${path} cannot be read (${reason}).`);
    return null;
  }
}
