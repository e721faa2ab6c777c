interface ForeignNames {
  /** A name that ends in `*` stands for a family. */
  readonly names: readonly string[];
  /** The setting to use instead, or why there is none. */
  readonly note: string;
}

/** Lists the variables that deployments of cognee set and this server does not use: each is warned of at start. */
export const FOREIGN_NAMES: readonly ForeignNames[] = [
  {
    names: ['DATA_ROOT_DIRECTORY', 'SYSTEM_ROOT_DIRECTORY', 'CACHE_ROOT_DIRECTORY', 'COGNEE_REPOS_DIR'],
    note: 'ENGRAM_DATA_DIR is the one directory for everything.',
  },
  {
    names: ['DB_PROVIDER', 'GRAPH_DATABASE_PROVIDER', 'VECTOR_DB_PROVIDER', 'STORAGE_BACKEND', 'CACHE_BACKEND'],
    note: 'ENGRAM_STORES and its overrides choose the stores.',
  },
  { names: ['HTTP_PORT', 'BIND_ADDRESS'], note: 'use HTTP_API_PORT and HTTP_API_HOST.' },
  { names: ['HASH_API_KEY'], note: 'API keys are always stored hashed.' },
  { names: ['COGNEE_LOG_FILE', 'COGNEE_LOGS_DIR', 'LOGS_ROOT_DIRECTORY'], note: 'logs go to standard output.' },
  { names: ['MOCK_EMBEDDING'], note: 'without a configured model none is called.' },
  {
    names: ['CHUNK_SIZE', 'CHUNK_OVERLAP', 'CHUNK_STRATEGY', 'GRAPH_EXTRACTOR', 'STRUCTURED_OUTPUT_FRAMEWORK'],
    note: 'the server chooses it; a request may give chunk_size.',
  },
  {
    names: [
      ...['GOOGLE_DRIVE_AUTH_MODE', 'GOOGLE_DRIVE_CREDENTIALS_PATH', 'GOOGLE_DRIVE_TOKEN_PATH'],
      ...['GOOGLE_DRIVE_FOLDER_ID', 'GOOGLE_DRIVE_INCLUDE_SUBFOLDERS', 'GOOGLE_CALENDAR_CREDENTIALS_PATH'],
      ...['GOOGLE_CALENDAR_TOKEN_PATH', 'GOOGLE_CALENDAR_ACCESS_TOKEN', 'GOOGLE_CALENDAR_REFRESH_TOKEN'],
      ...['GOOGLE_CALENDAR_IDS', 'INTEGRATION_CREDENTIALS_*', 'TOOL_CALLS_ENABLED', 'TOOL_SQL_CONNECTIONS'],
      ...['LLM_API_VERSION', 'LLM_ARGS', 'LLM_RATE_LIMIT_*', 'EMBEDDING_RATE_LIMIT_*', 'FALLBACK_*'],
      ...['EMBEDDING_API_VERSION', 'TRANSCRIPTION_MODEL', 'IMAGE_TRANSCRIBE_MODEL'],
      ...['IMPROVE_REVIEW_CONFLICTS', 'OTEL_EXPORTER_OTLP_*', 'LANGFUSE_*'],
    ],
    note: 'this version does not support it.',
  },
];

/** Finds the entry that names the variable. */
export function foreignNameOf(name: string): ForeignNames | undefined {
  return FOREIGN_NAMES.find(({ names }) =>
    names.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one)),
  );
}
