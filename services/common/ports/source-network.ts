import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

/** Reaches servers that a person names: on public addresses, and on hosts that the operator lists. */
export interface SourceNetwork {
  /**
   * Sends a request to an address that was checked; no redirect is followed. Reading the body fails with `PayloadTooLargeError`
   * when it is longer than `maxBytes`. Errors: `SSRFProtectionError`, those of `node:http`.
   */
  send(url: URL, request: SourceRequest): Promise<SourceResponse>;
  /** An address of the host that was checked. Errors: `SSRFProtectionError`. */
  addressOf(host: string): Promise<string>;
  /** Whether the operator lists the host: a login may go there unencrypted. */
  isListed(host: string): boolean;
}

interface SourceRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface SourceResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
}
