import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { SecretBox } from '../../ports/system.ts';

export interface SecretBoxOptions {
  /** Key id → root secret of at least 16 characters, as configured or generated. Old ones stay listed to open old boxes. */
  readonly rootKeys: Readonly<Record<string, string>>;
  /** The key that seals. */
  readonly activeKeyId: string;
}

const KEY_ID = /^[A-Za-z0-9_-]+$/;
const MIN_SECRET_LENGTH = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM with a fresh 96-bit nonce per box and the context as associated data. A box is
 * `1.<key id>.<base64url of nonce, ciphertext, tag>`; the encryption key is derived from the root secret by HKDF-SHA-256.
 */
export function createSecretBox(options: SecretBoxOptions): SecretBox {
  const keys = new Map(Object.entries(options.rootKeys).map(([id, secret]) => [id, deriveKey(id, secret)]));
  const activeKey = keys.get(options.activeKeyId);
  if (activeKey === undefined) throw new Error(`no root key has the active id ${options.activeKeyId}`);
  return {
    seal(plain, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', activeKey, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(associatedData(options.activeKeyId, context));
      const sealed = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `1.${options.activeKeyId}.${sealed.toString('base64url')}`;
    },
    open(sealed, context) {
      const [format, keyId = '', content = ''] = sealed.split('.');
      const key = keys.get(keyId);
      if (format !== '1' || key === undefined) throw new Error('the sealed secret has an unknown format or key');
      const bytes = Buffer.from(content, 'base64url');
      if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new Error('the sealed secret is cut short');
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(associatedData(keyId, context));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    },
  };
}

function deriveKey(id: string, secret: string): Buffer {
  if (!KEY_ID.test(id)) throw new Error(`root key id ${JSON.stringify(id)} may hold letters, digits, _ and - only`);
  if (secret.length < MIN_SECRET_LENGTH)
    throw new Error(`root key ${id} is shorter than ${MIN_SECRET_LENGTH} characters`);
  return Buffer.from(hkdfSync('sha256', secret, 'engram', 'secret-box/1', 32));
}

function associatedData(keyId: string, context: string): Buffer {
  return Buffer.from(`1.${keyId}.${context}`, 'utf8');
}
