import { sign as signBytes } from 'node:crypto';
import {
  type AuditHead,
  auditHeadText,
  SIGNING_PURPOSE,
  type SignedAuditHead,
} from '../../common/domain/audit-record.ts';
import {
  type ErasureReceipt,
  erasureReceiptText,
  type SignedErasureReceipt,
} from '../../common/domain/erasure-receipt.ts';
import { manifestSignedText } from '../../common/domain/snapshot.ts';
import { deriveSigningKey } from '../../common/kernel/derived-key.ts';
import { keyId } from '../../common/platform/messaging/token-text.ts';
import { isManifestSignedBy } from '../../common/storage/snapshots/check-signature.ts';

/** Signs the heads of audit logs, receipts of erasures and manifests of snapshots. */
interface AuditHeadSigner {
  sign(head: AuditHead): SignedAuditHead;
  /** Signed with the same key; the signed text differs from that of any head. */
  signReceipt(receipt: ErasureReceipt): SignedErasureReceipt;
  /** Signed with the same key over `manifestSignedText`. `sha256`: of the manifest of a snapshot. */
  signSnapshot(sha256: string): { readonly keyId: string; readonly signature: string };
  /** Whether one of the accepted keys signed it. */
  isSnapshotSigned(sha256: string, signed: { readonly keyId: string; readonly signature: string }): boolean;
  /** JSON Web Keys (RFC 8037) that verify signatures. */
  readonly publicKeys: readonly Readonly<Record<string, string>>[];
}

/**
 * Derives its key from the secret that signs login tokens, so all replicas sign alike; `acceptedSecrets` are further secrets
 * while it is being changed. A long-term archive of an export needs the public keys too.
 */
export function createAuditHeadSigner(
  secret: Uint8Array | string,
  acceptedSecrets: readonly string[] = [],
): AuditHeadSigner {
  const { privateKey, publicJwk } = deriveSigningKey(secret, SIGNING_PURPOSE);
  const others = acceptedSecrets.map((accepted) => deriveSigningKey(accepted, SIGNING_PURPOSE).publicJwk);
  const known = new Map([publicJwk, ...others].map((jwk) => [keyId(jwk.x), jwk]));
  const kid = keyId(publicJwk.x);
  const signed = (text: string) => ({
    keyId: kid,
    signature: signBytes(null, Buffer.from(text), privateKey).toString('base64url'),
  });
  return {
    sign: (head) => ({ ...head, ...signed(auditHeadText(head)) }),
    signReceipt: (receipt) => ({ ...receipt, ...signed(erasureReceiptText(receipt)) }),
    signSnapshot: (sha256) => signed(manifestSignedText(sha256)),
    isSnapshotSigned(sha256, { keyId: id, signature }) {
      const jwk = known.get(id);
      return jwk !== undefined && isManifestSignedBy(jwk.x, { sha256, signature });
    },
    publicKeys: [publicJwk, ...others].map(({ x }) => ({
      kty: 'OKP',
      crv: 'Ed25519',
      x,
      kid: keyId(x),
      alg: 'EdDSA',
      use: 'sig',
    })),
  };
}
