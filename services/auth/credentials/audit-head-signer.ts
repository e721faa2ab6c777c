import { sign as signBytes } from 'node:crypto';
import { type AuditHead, auditHeadText, type SignedAuditHead } from '../../common/domain/audit-head.ts';
import { deriveSigningKey } from '../../common/domain/derived-key.ts';
import {
  type ErasureReceipt,
  erasureReceiptText,
  type SignedErasureReceipt,
} from '../../common/domain/erasure-receipt.ts';
import { keyId } from '../../common/messaging/token-text.ts';

/** The server's word on where a chain ended, and on what was erased. */
export interface AuditHeadSigner {
  sign(head: AuditHead): SignedAuditHead;
  /** By the same key, over a text that no head has. */
  signReceipt(receipt: ErasureReceipt): SignedErasureReceipt;
  /** JSON Web Keys (RFC 8037) that verify signatures. */
  readonly publicKeys: readonly Readonly<Record<string, string>>[];
}

const KEY_PURPOSE = 'engram audit heads';

/**
 * Its key derives from the secret that signs login tokens, so that all replicas sign alike; `acceptedSecrets` are those before
 * and after a change of it. Who keeps an export for longer keeps the keys with it.
 */
export function createAuditHeadSigner(
  secret: Uint8Array | string,
  acceptedSecrets: readonly string[] = [],
): AuditHeadSigner {
  const { privateKey, publicJwk } = deriveSigningKey(secret, KEY_PURPOSE);
  const others = acceptedSecrets.map((accepted) => deriveSigningKey(accepted, KEY_PURPOSE).publicJwk);
  const kid = keyId(publicJwk.x);
  const signed = (text: string) => ({
    ...{ keyId: kid, signature: signBytes(null, Buffer.from(text), privateKey).toString('base64url') },
  });
  return {
    sign: (head) => ({ ...head, ...signed(auditHeadText(head)) }),
    signReceipt: (receipt) => ({ ...receipt, ...signed(erasureReceiptText(receipt)) }),
    publicKeys: [publicJwk, ...others].map(({ x }) => ({
      ...{ kty: 'OKP', crv: 'Ed25519', x, kid: keyId(x), alg: 'EdDSA', use: 'sig' },
    })),
  };
}
