interface EngramErrorOptions {
  readonly cause?: unknown;
  /** A later attempt of the same call may succeed without any change by the caller. */
  readonly retryable?: boolean;
  /** Extra keys beside `detail` on the wire: `code`, `param`, `improve_result`. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Seconds, sent as `Retry-After`. */
  readonly retryAfterSeconds?: number;
}

/**
 * An error that a client may see: `message` goes to the wire as `{"detail": "<message> [<wireName>]"}` with `status`.
 * Any other error is unknown: it is logged and answered with a 500 without details.
 */
export class EngramError extends Error {
  readonly wireName: string;
  readonly status: number;
  readonly retryable: boolean;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds: number | undefined;

  constructor(wireName: string, status: number, message: string, options: EngramErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = wireName;
    this.wireName = wireName;
    this.status = status;
    this.retryable = options.retryable ?? false;
    this.extra = options.extra ?? {};
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  /** The `detail` text of the wire. */
  get detail(): string {
    return `${clientMessage(this)} [${this.wireName}]`;
  }
}

/** Absolute paths of either spelling, all but their last segment. */
const FOLDERS = /(?<![\w.:/\\])(?:[A-Za-z]:)?[\\/](?:[^\s\\/'"`]+[\\/])+(?=[^\s\\/])/g;

/** Message for clients: without the folders of files that an error of a store names. */
export function clientMessage({ message, status }: Pick<EngramError, 'message' | 'status'>): string {
  return status < 500 ? message : message.replaceAll(FOLDERS, '');
}

/** Recognises our errors across worker boundaries and package copies, where `instanceof` fails. */
export function isEngramError(error: unknown): error is EngramError {
  return (
    error instanceof EngramError ||
    (error instanceof Error && typeof (error as { wireName?: unknown }).wireName === 'string')
  );
}

/** Class name → status of the contract (auth-integrations.md §1.4). One table, so that a name cannot get two statuses. */
const STATUS = {
  CapabilityNotFoundError: 400,
  CloudApiKeyMissingError: 400,
  CypherSearchError: 400,
  DimensionOutOfRangeError: 400,
  ExternalMetadataCountMismatchError: 400,
  InvalidChunkSizeError: 400,
  InvalidDatasetNameError: 400,
  InvalidExternalMetadataError: 400,
  InvalidGraphModelError: 400,
  InvalidLabelsError: 400,
  InvalidNodeSetError: 400,
  InvalidRequestError: 400,
  LabelCountMismatchError: 400,
  SearchTypeNotSupported: 400,
  SessionParameterValidationError: 400,
  UnsupportedSearchTypeError: 400,
  LLMPaymentRequiredError: 402,
  PermissionDeniedError: 403,
  PermissionNotFoundError: 403,
  SearchTypeDisabledError: 403,
  SSRFProtectionError: 403,
  DataNotFoundError: 404,
  DatasetNotFoundError: 404,
  EntityNotFoundError: 404,
  NoDataError: 404,
  RoleNotFoundError: 404,
  TenantNotFoundError: 404,
  UpdateTargetNotFoundError: 404,
  UserNotFoundError: 404,
  AmbiguousDataIdError: 409,
  EmbeddingDimensionMismatchError: 409,
  EntityAlreadyExistsError: 409,
  ConflictError: 409,
  HostnameConflict: 409,
  OwnedByAnother: 409,
  AdoptionNotAllowed: 403,
  OwnerUnverified: 409,
  SessionNodeSetConflictError: 409,
  PayloadTooLargeError: 413,
  IngestionError: 415,
  UnreadableFileContentError: 415,
  UnsupportedFileTypeError: 415,
  CogneeValidationError: 422,
  ContentPolicyFilterError: 422,
  EmbeddingException: 422,
  InvalidCodeQueryError: 422,
  InvalidCodeSearchConfig: 422,
  InvalidMaxIter: 422,
  InvalidAgenticDatasetScope: 422,
  InvalidSkillsDatasetScope: 422,
  CodeSearchValidationError: 422,
  InvalidAgenticSearchConfig: 422,
  InvalidToolsTriggerError: 422,
  LLMAPIKeyNotSetError: 422,
  LLMQuotaExceededError: 422,
  PipelineRunFailedError: 422,
  QueryValidationError: 422,
  SessionQAEntryValidationError: 422,
  ToolCallsDisabledError: 422,
  TooManyRequestsError: 429,
  AbandonedPipelineRunError: 500,
  CancelledError: 500,
  CogneeSystemError: 500,
  CorruptStoreError: 500,
  EmptyOntologyInStrictModeError: 500,
  OntologyInitializationError: 500,
  DocumentParsingError: 422,
  UnsupportedOperationError: 501,
  CacheConnectionError: 503,
  CloudConnnectionError: 503,
  FinalSnapshotFailed: 503,
  GraphStreamCapacityError: 503,
  ServiceUnavailableError: 503,
  DeadlineExceededError: 504,
} as const;

export type ErrorName = keyof typeof STATUS;

/** The one way to make an error of the contract: `throw engramError('DatasetNotFoundError', 'Dataset ... not found')`. */
export function engramError(name: ErrorName, message: string, options?: EngramErrorOptions): EngramError {
  return new EngramError(name, STATUS[name], message, options);
}

/** An error that was kept by its name, as it was; one that is not of the contract is the server's. */
export function namedError(name: string, message: string): EngramError {
  return engramError(Object.hasOwn(STATUS, name) ? (name as ErrorName) : 'CogneeSystemError', message);
}
