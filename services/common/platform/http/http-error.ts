/**
 * An answer whose body the contract fixes as it stands, where the common `{"detail": "… [Class]"}` form does not apply:
 * `new HttpError(400, { error: 'Either datasetId or datasetName must be provided.', detail: null })`.
 */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    body: unknown,
    options: ErrorOptions & { readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(typeof body === 'string' ? body : JSON.stringify(body), options);
    this.status = status;
    this.body = body;
    this.headers = options.headers ?? {};
  }
}
