/** The hosted service that this one can be linked to. Its address is configuration, never a caller's. */
export interface CloudApi {
  /** Throws `CloudConnnectionError` when it cannot be reached, does not answer in time or does not accept the key. */
  checkKey(key: string, signal?: AbortSignal): Promise<void>;
}
