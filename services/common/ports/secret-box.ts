/**
 * Seals small secrets – keys of providers, tokens of connections – so that what lies in a store or a backup is of no use
 * without a root key. Adapter: `adapters/secret-box`.
 *
 * - A sealed text is ASCII. It carries its format, the id of its root key and a nonce: the same secret never seals alike.
 * - It is bound to its place: copied to another row or field, it does not open.
 * - After a rotation the first root key seals; the others still open what they sealed, until that is sealed again.
 * - Errors: `ServiceUnavailableError` when there is no root key to work with, naming the setting; `CorruptStoreError` from
 *   `open` for a text that was changed, moved, cut, or sealed under a key that is not there. Neither shows the secret.
 */
export interface SecretBox {
  seal(plain: string, place: SecretPlace): Promise<string>;
  open(sealed: string, place: SecretPlace): Promise<string>;
  /** Whether the root key that seals now sealed it: otherwise its owner seals it again, so that an old key can be removed. */
  isCurrent(sealed: string): Promise<boolean>;
}

/** Place of a sealed secret. */
export interface SecretPlace {
  readonly collection: string;
  /** Id of the document. */
  readonly id: string;
  readonly field: string;
}
