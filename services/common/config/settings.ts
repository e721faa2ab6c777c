import type { z } from 'zod';
import * as type from './value-types.ts';

/** One variable that this build uses. */
export interface Setting<Value = unknown> {
  /** The name, then older or foreign spellings; the first that is set wins. An empty value counts as unset. */
  readonly names: readonly [string, ...string[]];
  readonly section: Section;
  readonly type: z.ZodType<Value>;
  /** As one would write it. Absent: the value is `undefined` when the variable is unset. Secrets have none. */
  readonly default?: string;
  /** What the documentation shows where an absent default stands for more than "unset". */
  readonly shownDefault?: string;
  readonly meaning: string;
  readonly secret?: boolean;
}

export const SECTIONS = ['Server', 'Stores', 'Access', 'Requests', 'Models', 'Runs'] as const;
export type Section = (typeof SECTIONS)[number];

export const SERVICE_NAMES = ['auth', 'ingest', 'cognify', 'improve', 'search', 'integrations'] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];

/** The logger's levels; it takes exactly these. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

export const STORE_SHAPES = ['embedded', 'cluster'] as const;
export type StoreShape = (typeof STORE_SHAPES)[number];

type WithDefault<Value> = Setting<Value> & { readonly default: string };

function setting<Value>(row: WithDefault<Value>): WithDefault<Value> {
  return row;
}

function optional<Value>(row: Omit<Setting<Value>, 'default'>): Setting<Value> {
  return row;
}

const server = {
  port: setting({
    names: ['HTTP_API_PORT'],
    section: 'Server',
    type: type.integer({ min: 0, max: 65_535 }),
    default: '8000',
    meaning: 'Port of the HTTP API; 0 takes any free one.',
  }),
  host: optional({
    names: ['HTTP_API_HOST'],
    section: 'Server',
    type: type.text(),
    shownDefault: '`127.0.0.1` (cluster: `0.0.0.0`)',
    meaning:
      'Address to listen on. On any address but loopback authentication is required unless switched off by hand.',
  }),
  services: optional({
    names: ['ENGRAM_SERVICES', 'SERVICES'],
    section: 'Server',
    type: type.listOf(SERVICE_NAMES),
    shownDefault: 'all',
    meaning: `Services that this process runs: a comma list of ${SERVICE_NAMES.join(', ')}. A part of them needs cluster stores.`,
  }),
  logLevel: setting({
    names: ['LOG_LEVEL'],
    section: 'Server',
    type: type
      .text()
      .transform((value) => LEVEL_WORDS[value.trim().toLowerCase()] ?? value.trim().toLowerCase())
      .pipe(type.oneOf(LOG_LEVELS)),
    default: 'info',
    meaning: 'Least level that is logged: debug, info, warn, error, silent.',
  }),
  drainTimeoutMs: setting({
    names: ['BACKGROUND_DRAIN_TIMEOUT_SECONDS'],
    section: 'Server',
    type: type.secondsAsMs({ min: 0, max: 3_600 }),
    default: '8',
    meaning: 'Seconds that a stop waits for requests and runs.',
  }),
  environmentFile: optional({
    names: ['COGNEE_ENV_FILE'],
    section: 'Server',
    type: type.text(),
    shownDefault: '`.env`, when there is one',
    meaning: 'File with further variables; it must exist. Variables of the process win over the file.',
  }),
};

/** Spellings of Python's logging module. */
const LEVEL_WORDS: Readonly<Record<string, string>> = {
  warning: 'warn',
  critical: 'error',
  fatal: 'error',
  notset: 'debug',
};

const storeOverride = (name: string, what: string) =>
  optional({
    names: [name],
    section: 'Stores',
    type: type.oneOf(STORE_SHAPES),
    shownDefault: 'as `ENGRAM_STORES`',
    meaning: `Overrides the preset for ${what}.`,
  });

const stores = {
  dataDir: setting({
    names: ['ENGRAM_DATA_DIR'],
    section: 'Stores',
    type: type.text(),
    default: './data',
    meaning: 'The one directory of the embedded shape: databases, files, generated keys, uploads under way.',
  }),
  storeShape: setting({
    names: ['ENGRAM_STORES'],
    section: 'Stores',
    type: type.oneOf(STORE_SHAPES),
    default: 'embedded',
    meaning: 'Preset for all stores: embedded (SQLite and files) or cluster (servers of their own).',
  }),
  documents: storeOverride('ENGRAM_DOCUMENTS', 'records, jobs and events'),
  blobs: storeOverride('ENGRAM_BLOBS', 'files'),
  index: storeOverride('ENGRAM_INDEX', 'the lexical and the vector index'),
  graph: storeOverride('ENGRAM_GRAPH', 'the graph'),
  bus: storeOverride('ENGRAM_BUS', 'messages between services'),
  vectorMemoryBytes: setting({
    names: ['ENGRAM_VECTOR_MEMORY'],
    section: 'Stores',
    type: type.bytes({ min: 16 * 2 ** 20 }),
    default: '512MB',
    meaning: 'Memory that loaded vectors may take; the least recently used datasets are unloaded beyond it.',
  }),
  autoMigrations: optional({
    names: ['ENABLE_AUTO_MIGRATIONS'],
    section: 'Stores',
    type: type.flag(),
    shownDefault: '`true` (cluster: `false`)',
    meaning: 'Bring the stores to the present schema at start; else `npm run migrate` does it.',
  }),
};

const access = {
  accessControl: optional({
    names: ['ENABLE_BACKEND_ACCESS_CONTROL'],
    section: 'Access',
    type: type.onlyTrue(),
    shownDefault: 'on, except for the open mode on loopback',
    meaning: 'Access control between users; it also switches authentication on. Only the word true is true.',
  }),
  requireAuthentication: optional({
    names: ['REQUIRE_AUTHENTICATION'],
    section: 'Access',
    type: type.onlyTrue(),
    shownDefault: 'required, except on loopback',
    meaning:
      'Every request needs credentials. With this and the one above unset, a server on loopback is open to its one user and refuses foreign hosts, foreign origins and proxies; set it to true behind a proxy.',
  }),
  defaultUserEmail: setting({
    names: ['DEFAULT_USER_EMAIL'],
    section: 'Access',
    type: type.text(),
    default: 'default_user@example.com',
    meaning: 'Address of the default account.',
  }),
  defaultUserPassword: optional({
    names: ['DEFAULT_USER_PASSWORD'],
    section: 'Access',
    type: type.text(),
    secret: true,
    meaning: 'Set: the default account is made at start and gets this password once, if it has none.',
  }),
  jwtSecret: optional({
    names: ['FASTAPI_USERS_JWT_SECRET'],
    section: 'Access',
    type: type.secretText(8),
    secret: true,
    shownDefault: 'generated once into the data directory',
    meaning: 'Signs login tokens.',
  }),
  resetPasswordSecret: optional({
    names: ['FASTAPI_USERS_RESET_PASSWORD_TOKEN_SECRET'],
    section: 'Access',
    type: type.secretText(8),
    secret: true,
    shownDefault: 'generated once into the data directory',
    meaning: 'Signs password reset tokens.',
  }),
  verificationSecret: optional({
    names: ['FASTAPI_USERS_VERIFICATION_TOKEN_SECRET'],
    section: 'Access',
    type: type.secretText(8),
    secret: true,
    shownDefault: 'generated once into the data directory',
    meaning: 'Signs address verification tokens.',
  }),
  jwtLifetimeSeconds: setting({
    names: ['JWT_LIFETIME_SECONDS'],
    section: 'Access',
    type: type.integer({ min: 0, max: 10 * 365 * 86_400 }),
    default: '3600',
    meaning: 'Lifetime of login tokens in seconds; 0 = no expiry.',
  }),
  cookieName: setting({
    names: ['AUTH_TOKEN_COOKIE_NAME'],
    section: 'Access',
    type: type.text().refine((name) => /^[!#$%&'*+.^_`|~\w-]+$/.test(name), 'must be a cookie name'),
    default: 'auth_token',
    meaning: 'Name of the login cookie.',
  }),
  cookieDomain: optional({
    names: ['AUTH_TOKEN_COOKIE_DOMAIN'],
    section: 'Access',
    type: type.text().refine((name) => /^[\w.-]+$/.test(name), 'must be a domain name'),
    meaning: 'Domain of the login cookie; unset = the host that was asked.',
  }),
  maxUserApiKeys: setting({
    names: ['MAX_USER_API_KEYS'],
    section: 'Access',
    type: type.integer({ min: 1, max: 10_000 }),
    default: '10',
    meaning: 'API keys per user.',
  }),
  corsAllowedOrigins: optional({
    names: ['CORS_ALLOWED_ORIGINS'],
    section: 'Access',
    type: type.originList(),
    shownDefault: 'the one of `UI_APP_URL`',
    meaning: 'Origins whose pages may call the API, as a comma list; `*` = any (never in the open mode).',
  }),
  uiAppUrl: setting({
    names: ['UI_APP_URL'],
    section: 'Access',
    type: type.httpUrl(),
    default: 'http://localhost:3000',
    meaning: 'Address of the web interface.',
  }),
  allowedHosts: setting({
    names: ['ENGRAM_ALLOWED_HOSTS'],
    section: 'Access',
    type: type.list(),
    default: '',
    meaning: 'Further host names under which the open mode may be called; loopback names always are.',
  }),
};

const requests = {
  uploadLimitBytes: setting({
    names: ['ENGRAM_UPLOAD_LIMIT_BYTES'],
    section: 'Requests',
    type: type.bytes({ min: 1_024 }),
    default: '1GB',
    meaning: 'Greatest size of one form upload, all files together; more is answered 413.',
  }),
  jsonLimitBytes: setting({
    names: ['ENGRAM_JSON_LIMIT_BYTES'],
    section: 'Requests',
    type: type.bytes({ min: 1_024 }),
    default: '32MB',
    meaning: 'Greatest size of a JSON or urlencoded body; more is answered 413.',
  }),
  acceptLocalFilePath: setting({
    names: ['ACCEPT_LOCAL_FILE_PATH'],
    section: 'Requests',
    type: type.flag(),
    default: 'false',
    meaning: 'Paths on the server are accepted as data, inside the roots below.',
  }),
  allowedLocalFileRoots: setting({
    names: ['COGNEE_ALLOWED_LOCAL_FILE_ROOTS'],
    section: 'Requests',
    type: type.pathList(),
    default: '',
    meaning: 'Directories for the paths above (`:` between them); none listed = none allowed.',
  }),
  allowHttpRequests: setting({
    names: ['ALLOW_HTTP_REQUESTS'],
    section: 'Requests',
    type: type.flag(),
    default: 'true',
    meaning: 'URLs given as data are fetched; never from private addresses.',
  }),
  webFetchTimeoutMs: setting({
    names: ['WEB_SCRAPER_TIMEOUT'],
    section: 'Requests',
    type: type.secondsAsMs({ min: 0.1, max: 600 }),
    default: '15',
    meaning: 'Seconds for one fetch of a URL.',
  }),
  allowCypherQuery: setting({
    names: ['ALLOW_CYPHER_QUERY'],
    section: 'Requests',
    type: type.flag(),
    default: 'false',
    meaning: 'The search types CYPHER and NATURAL_LANGUAGE.',
  }),
  logSearchHistory: setting({
    names: ['COGNEE_LOG_SEARCH_HISTORY'],
    section: 'Requests',
    type: type.flag(),
    default: 'true',
    meaning: 'Questions and answers are kept for the histories.',
  }),
  recallWarmupShortcircuit: setting({
    names: ['RECALL_WARMUP_SHORTCIRCUIT'],
    section: 'Requests',
    type: type.flag(),
    default: 'true',
    meaning: 'Recall answers with a marker while nothing was ever processed.',
  }),
  recallWarmupThreshold: setting({
    names: ['RECALL_WARMUP_THRESHOLD'],
    section: 'Requests',
    type: type.integer({ min: 0 }),
    default: '1',
    meaning: 'Processed items from which on recall searches.',
  }),
  recallWarmupCacheTtlMs: setting({
    names: ['RECALL_WARMUP_CACHE_TTL'],
    section: 'Requests',
    type: type.secondsAsMs({ min: 0, max: 86_400 }),
    default: '60',
    meaning: 'Seconds for which that count is remembered.',
  }),
};

const models = {
  llmProvider: optional({
    names: ['LLM_PROVIDER'],
    section: 'Models',
    type: type.text().transform((value) => value.trim().toLowerCase()),
    shownDefault: 'the first part of `LLM_MODEL`, else `openai` once a key or endpoint is set',
    meaning:
      'openai, anthropic, gemini, mistral, ollama, or custom for any OpenAI-compatible server (it needs the endpoint).',
  }),
  llmModel: optional({
    names: ['LLM_MODEL'],
    section: 'Models',
    type: type.text(),
    shownDefault: 'by provider',
    meaning: 'Model name; a provider prefix as in `openai/gpt-5-mini` is understood.',
  }),
  llmEndpoint: optional({
    names: ['LLM_ENDPOINT'],
    section: 'Models',
    type: type.httpUrl(),
    meaning: 'Base URL of the provider. With neither this nor a key, nor a provider, no language model is used.',
  }),
  llmApiKey: optional({
    names: ['LLM_API_KEY'],
    section: 'Models',
    type: type.text(),
    secret: true,
    meaning: 'Its key.',
  }),
  llmTemperature: optional({
    names: ['LLM_TEMPERATURE'],
    section: 'Models',
    type: type.number({ min: 0, max: 2 }),
    shownDefault: 'the provider’s',
    meaning: 'Sampling temperature; sent only when set, because some models refuse it.',
  }),
  llmAnswerStreaming: setting({
    names: ['LLM_ANSWER_STREAMING'],
    section: 'Models',
    type: type.flag(),
    default: 'false',
    meaning: 'A streamed recall sends the answer in pieces while the model writes it.',
  }),
  llmMaxCompletionTokens: setting({
    names: ['LLM_MAX_COMPLETION_TOKENS'],
    section: 'Models',
    type: type.integer({ min: 1 }),
    default: '16384',
    meaning: 'Greatest number of tokens of one answer of the model. Not sent: half of it bounds a chunk.',
  }),
  embeddingProvider: optional({
    names: ['EMBEDDING_PROVIDER'],
    section: 'Models',
    type: type.text().transform((value) => value.trim().toLowerCase()),
    shownDefault: '`openai` once a key, endpoint or model is set',
    meaning:
      'openai, gemini, mistral, ollama, or custom for any OpenAI-compatible server (it needs the endpoint). Nothing set = the built-in embedder.',
  }),
  embeddingModel: optional({
    names: ['EMBEDDING_MODEL'],
    section: 'Models',
    type: type.text(),
    shownDefault: '`text-embedding-3-large`',
    meaning: 'Model name.',
  }),
  embeddingDimensions: optional({
    names: ['EMBEDDING_DIMENSIONS'],
    section: 'Models',
    type: type.integer({ min: 1, max: 65_536 }),
    shownDefault: 'by model, else 3072',
    meaning: 'Length of its vectors. A dataset keeps the dimensions that it was made with.',
  }),
  embeddingEndpoint: optional({
    names: ['EMBEDDING_ENDPOINT', 'EMBEDDING_API_BASE'],
    section: 'Models',
    type: type.httpUrl(),
    meaning: 'Base URL of the provider.',
  }),
  embeddingApiKey: optional({
    names: ['EMBEDDING_API_KEY'],
    section: 'Models',
    type: type.text(),
    secret: true,
    shownDefault: '`LLM_API_KEY`',
    meaning: 'Its key.',
  }),
  embeddingBatchSize: setting({
    names: ['EMBEDDING_BATCH_SIZE'],
    section: 'Models',
    type: type.integer({ min: 1, max: 2_048 }),
    default: '32',
    meaning: 'Texts per call.',
  }),
  embeddingMaxCompletionTokens: setting({
    names: ['EMBEDDING_MAX_COMPLETION_TOKENS'],
    section: 'Models',
    type: type.integer({ min: 1 }),
    default: '4096',
    meaning: 'Greatest number of tokens of one embedded text; bounds the chunk size.',
  }),
};

const runs = {
  raiseItemErrors: setting({
    names: ['RAISE_INCREMENTAL_LOADING_ERRORS'],
    section: 'Runs',
    type: type.flag(),
    default: 'true',
    meaning: 'The first item that cannot be processed ends its run; `false` lets the other items finish first.',
  }),
  chunksPerBatch: optional({
    names: ['CHUNKS_PER_BATCH'],
    section: 'Runs',
    type: type.integer({ min: 1 }),
    shownDefault: 'chosen by the service',
    meaning: 'Chunks that are extracted together when a request does not say.',
  }),
  staleRunMinAgeMs: setting({
    names: ['COGNEE_STALE_RUN_RECOVERY_MIN_AGE_SECONDS'],
    section: 'Runs',
    type: type.secondsAsMs({ min: 0, max: 365 * 86_400 }),
    default: '3600',
    meaning: 'Age in seconds from which a run without a job is closed as abandoned.',
  }),
};

/** Every setting that this build uses, by its key in `Config`. */
export const SETTINGS = { ...server, ...stores, ...access, ...requests, ...models, ...runs };

export type SettingKey = keyof typeof SETTINGS;

/** The values as read: settings without a default may be undefined. */
export type SettingValues = {
  readonly [Key in SettingKey]: (typeof SETTINGS)[Key] extends { readonly default: string }
    ? z.output<(typeof SETTINGS)[Key]['type']>
    : z.output<(typeof SETTINGS)[Key]['type']> | undefined;
};
