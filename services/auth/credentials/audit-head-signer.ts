import { sign as signBytes } from 'node:crypto';
import { type AuditHead, auditHeadText, type SignedAuditHead } from '../../common/domain/audit-head.ts';
import { deriveSigningKey } from '../../common/domain/derived-key.ts';
import { keyId } from '../../common/messaging/token-text.ts';

/** The server's word on where a chain ended. */
export interface AuditHeadSigner {
  sign(head: AuditHead): SignedAuditHead;
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
  return {
    sign(head) {
      const signature = signBytes(null, Buffer.from(auditHeadText(head)), privateKey).toString('base64url');
      return { ...head, keyId: kid, signature };
    },
    publicKeys: [publicJwk, ...others].map(({ x }) => ({
      ...{ kty: 'OKP', crv: 'Ed25519', x, kid: keyId(x), alg: 'EdDSA', use: 'sig' },
    })),
  };
}
