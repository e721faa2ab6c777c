/**
 * Variables of the reference implementation (contract/env.md) and of other programs of this repository that the server does
 * not use, with what happens when they are set: `warned` once at start, because the setter expects something; `later`: will be used, listed in one warning;
 * `ignored`: details of the other implementation. A name ending in `*` stands for a family.
 */
export interface ForeignNames {
  readonly names: readonly string[];
  readonly status: 'warned' | 'later' | 'ignored';
  readonly note: string;
}

export const FOREIGN_NAMES: readonly ForeignNames[] = [
  // Something else does their work here.
  {
    names: [
      'DATA_ROOT_DIRECTORY',
      'SYSTEM_ROOT_DIRECTORY',
      'CACHE_ROOT_DIRECTORY',
      'REPOS_ROOT_DIRECTORY',
      'COGNEE_REPOS_DIR',
    ],
    status: 'warned',
    note: 'ENGRAM_DATA_DIR is the one directory for everything.',
  },
  {
    names: [
      'DB_PROVIDER',
      'GRAPH_DATABASE_PROVIDER',
      'VECTOR_DB_PROVIDER',
      'USE_UNIFIED_PROVIDER',
      'STORAGE_BACKEND',
      'CACHE_BACKEND',
    ],
    status: 'warned',
    note: 'ENGRAM_STORES and its overrides choose the stores.',
  },
  { names: ['HTTP_PORT', 'BIND_ADDRESS'], status: 'warned', note: 'use HTTP_API_PORT and HTTP_API_HOST.' },
  {
    names: ['HASH_API_KEY', 'API_KEY_HASH_SALT', 'API_KEY_HASH_ITERATIONS'],
    status: 'warned',
    note: 'API keys are always stored hashed.',
  },
  { names: ['CONTRADICTION_DETECTION'], status: 'warned', note: 'the feature was removed from the contract.' },
  {
    names: ['COGNEE_LOG_FILE', 'COGNEE_LOGS_DIR', 'LOGS_ROOT_DIRECTORY'],
    status: 'warned',
    note: 'logs go to standard output.',
  },
  {
    names: ['MOCK_EMBEDDING', 'MOCK_CODE_SUMMARY'],
    status: 'warned',
    note: 'without a configured model nothing is called at all.',
  },
  // Their service or stage has its own issue.
  {
    names: [
      'SLACK_*',
      'GITHUB_CLIENT_*',
      'GITHUB_APP_*',
      'GITHUB_WEBHOOK_SECRET',
      'GITHUB_FRONTEND_BASE_URL',
      'LINEAR_*',
      'GOOGLE_DRIVE_*',
      'GOOGLE_GMAIL_*',
      'GOOGLE_CALENDAR_*',
      'NOTION_API_KEY',
      'INTEGRATION_CREDENTIALS_*',
    ],
    status: 'later',
    note: 'integrations',
  },
  {
    names: ['IMPROVE_REVIEW_CONFLICTS', 'IMPROVE_EFFECTIVE_DATE_KEY'],
    status: 'later',
    note: 'improve',
  },
  { names: ['TOOL_*', 'TEXT_TO_SQL_*'], status: 'later', note: 'tools' },
  { names: ['COGNEE_SKILL_SOURCE_ROOTS'], status: 'later', note: 'skill folders of the server' },
  { names: ['ONTOLOGY_*', 'MATCHING_STRATEGY'], status: 'later', note: 'ontologies' },
  {
    names: [
      'LLM_API_VERSION',
      'LLM_ARGS',
      'LLM_EXTRACTION_*',
      'LLM_SUMMARIZATION_*',
      'LLM_QUERY_*',
      'LLM_SEED',
      'LLM_STREAMING',
      'LLM_RATE_LIMIT_*',
      'EMBEDDING_RATE_LIMIT_*',
      'AUTO_RATE_LIMIT',
      'FALLBACK_*',
      'EMBEDDING_API_VERSION',
      'EMBEDDING_INPUT_TYPE',
      'TRANSCRIPTION_MODEL',
      'IMAGE_TRANSCRI*',
    ],
    status: 'later',
    note: 'models beyond the basics',
  },
  { names: ['OTEL_*', 'LANGFUSE_*', 'MONITORING_TOOL'], status: 'later', note: 'export of traces' },
  {
    names: ['AWS_*', 'STORAGE_BUCKET_NAME'],
    status: 'ignored',
    note: 'the embedded shape keeps files in its directory',
  },
  { names: ['IMAGE_OCR_ENABLED', 'IMAGE_EXTRACTION_ENABLED', 'IMAGE_EXIF_ENABLED'], status: 'later', note: 'images' },
  {
    names: ['ENABLE_LAST_ACCESSED', 'PROVENANCE_*', 'COGNEE_PROVENANCE_MODE', 'DLT_*'],
    status: 'later',
    note: 'activity and provenance',
  },
  // Nothing here corresponds to them.
  {
    names: [
      'ENV',
      'ENVIRONMENT',
      'DEBUG',
      'DEBUG_PORT',
      'COGNEE_ALEMBIC_PATH',
      'COGNEE_SKIP_CONNECTION_TEST',
      'COGNEE_SKIP_PREFLIGHT',
      'COGNEE_LOG_MAX_BYTES',
      'COGNEE_LOG_BACKUP_COUNT',
      'LOG_FILE_NAME',
      'COGNEE_CLI_MODE',
      'COGNEE_MINIMAL_LOGGING',
      'LITELLM_*',
    ],
    status: 'ignored',
    note: 'start and logging of the other implementation',
  },
  {
    names: ['TELEMETRY_*', 'TRACKING_ID'],
    status: 'ignored',
    note: 'nothing is reported to anybody, whatever they say',
  },
  {
    names: ['COGNEE_CLOUD_URL', 'COGNEE_AUTH0_*'],
    status: 'ignored',
    note: 'read by clients',
  },
  {
    names: ['ENGRAM_URL', 'ENGRAM_API_KEY'],
    status: 'ignored',
    note: 'read by the command line (`npm run engram`)',
  },
  {
    names: ['ENGRAM_TEST_*', 'ENGRAM_BENCH_*', 'ENGRAM_SOAK_*'],
    status: 'ignored',
    note: 'read by tests and benchmarks',
  },
  {
    names: [
      'CACHE_*',
      'SESSION_SEARCH_MODE',
      'AGENTIC_LOCK_*',
      'SHARED_LADYBUG_LOCK',
      'SHARED_KUZU_LOCK',
      'USAGE_LOGGING*',
      'TAPES_*',
    ],
    status: 'ignored',
    note: 'its session cache and locks',
  },
  {
    names: [
      'DB_*',
      'DATABASE_CONNECT_ARGS',
      'POOL_ARGS',
      'TURSO_*',
      'MIGRATION_DB_*',
      'GRAPH_DATABASE_*',
      'GRAPH_FILE*',
      'GRAPH_DATASET_DATABASE_HANDLER',
      'VECTOR_DATASET_DATABASE_HANDLER',
      'KUZU_*',
      'NEO4J_*',
      'VECTOR_DB_*',
      'VECTOR_POOL_ARGS',
      'DATASET_QUEUE_*',
      'DATABASE_MAX_LRU_CACHE_SIZE',
      'SUBPROCESS_*',
    ],
    status: 'ignored',
    note: 'its stores',
  },
  {
    names: [
      'STRUCTURED_OUTPUT_FRAMEWORK',
      'BAML_*',
      'LLM_INSTRUCTOR_MODE',
      'LLM_AZURE_USE_MANAGED_IDENTITY',
      'LLAMA_CPP_*',
      'OLLAMA_NUM_CTX',
      'GRAPH_PROMPT_PATH',
      'EMBEDDING_ENCODING_FORMAT',
      'EMBEDDING_MAX_CONCURRENT_DATA_POINTS',
      'HUGGINGFACE_TOKENIZER',
      'CHUNK_SIZE',
      'CHUNK_OVERLAP',
      'CHUNK_STRATEGY',
      'CHUNK_ENGINE',
      'GRAPH_EXTRACTOR',
      'GLINER_*',
      'SUMMARY_METHOD',
    ],
    status: 'ignored',
    note: 'its model libraries and chunkers',
  },
  {
    names: [
      'PRESORT_FOLDERS_ENABLED',
      'GRAPH_COUNTS_*',
      'CODE_GRAPH_CACHE_*',
      'SEMANTIC_MAP_PROJECTION',
      'EDGE_EVIDENCE_*',
      'WEB_SCRAPER_MAX_DELAY',
      'TAVILY_API_KEY',
      'KEENABLE_*',
      'IMAGE_PERCEPTUAL_HASH_ENABLED',
      'TRANSLATION_*',
      'TARGET_LANGUAGE',
      'CONFIDENCE_THRESHOLD',
      'GOOGLE_TRANSLATE_*',
      'AZURE_TRANSLATOR_*',
      'ENOLA_PATH',
    ],
    status: 'ignored',
    note: 'details of its pipelines',
  },
];

/** The first entry that names the variable; exact names stand before families. */
export function foreignNameOf(name: string): ForeignNames | undefined {
  return (
    FOREIGN_NAMES.find((entry) => entry.names.includes(name)) ??
    FOREIGN_NAMES.find((entry) => entry.names.some((one) => one.endsWith('*') && name.startsWith(one.slice(0, -1))))
  );
}
