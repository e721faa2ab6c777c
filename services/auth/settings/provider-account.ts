import { hash } from 'node:crypto';
import type { SecretBox } from '../../common/ports/secret-box.ts';

/** What is kept of an account with a provider of models. */
interface KeptAccount {
  readonly provider: string;
  readonly model: string;
  readonly endpoint: string | null;
  readonly sealedKey: string | null;
  readonly keySha256: string | null;
}

/** What a resource declares of it. */
interface DeclaredAccount {
  readonly provider: string;
  readonly model: string;
  readonly endpoint?: string;
  readonly apiKey?: string;
}

export function isSameAccount(kept: KeptAccount, declared: DeclaredAccount): boolean {
  return (
    kept.provider === declared.provider &&
    kept.model === declared.model &&
    kept.endpoint === (declared.endpoint ?? null) &&
    kept.keySha256 === keySha256(declared.apiKey)
  );
}

/** The operator comes by every few minutes: what an earlier root key sealed is sealed anew then. */
export async function isSealedByThePresentKey(
  { secretBox }: { readonly secretBox: Pick<SecretBox, 'isCurrent'> },
  kept: Pick<KeptAccount, 'sealedKey'> | null,
): Promise<boolean> {
  return kept === null || kept.sealedKey === null || secretBox.isCurrent(kept.sealedKey);
}

/** Lower-case hex; null: there is no key. */
export function keySha256(key: string | undefined): string | null {
  return key === undefined ? null : hash('sha256', key);
}
