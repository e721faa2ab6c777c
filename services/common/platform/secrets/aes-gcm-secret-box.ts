import { hkdfSync } from 'node:crypto';
import { MIN_SEALED_BYTES, openText, sealText } from '../../kernel/aes-gcm.ts';
import { engramError } from '../../kernel/errors.ts';
import type { SecretBox, SecretPlace } from '../../ports/secret-box.ts';

/** 256 random bits under a name that sealed texts carry. */
export interface RootKey {
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** The first seals, all open. Asked for with the first secret: an installation that seals nothing needs none. */
export type RootKeys = () => Promise<readonly [RootKey, ...RootKey[]]>;

const FORMAT = '1';

interface Keyring {
  readonly sealing: string;
  readonly keys: ReadonlyMap<string, Buffer>;
}

/**
 * AES-256-GCM. A sealed text is `1.<key id>.<base64url of nonce, ciphertext, tag>`; format, key id and place are associated
 * data. The cipher's key is derived from the root key by HKDF-SHA-256, so that other uses of a root key share nothing with it.
 */
export function createAesGcmSecretBox(rootKeys: RootKeys): SecretBox {
  let loading: Promise<Keyring> | undefined;
  const keyring = (): Promise<Keyring> => {
    loading ??= rootKeys()
      .then(keyringOf)
      .catch((error: unknown) => {
        // The next secret tries again.
        loading = undefined;
        throw error;
      });
    return loading;
  };
  return {
    async seal(plain, place) {
      const { sealing, keys } = await keyring();
      const sealed = sealText(keys.get(sealing) as Buffer, plain, associatedData(sealing, place));
      return `${FORMAT}.${sealing}.${sealed.toString('base64url')}`;
    },
    async open(sealed, place) {
      const { keyId, bytes } = partsOf(sealed);
      const key = (await keyring()).keys.get(keyId);
      if (key === undefined) throw broken(`sealed under the root key "${keyId}", which ENGRAM_ROOT_KEYS does not list`);
      try {
        return openText(key, bytes, associatedData(keyId, place));
      } catch {
        throw broken(`changed, moved from elsewhere, or sealed under another root key with the name "${keyId}"`);
      }
    },
    isCurrent: async (sealed) => partsOf(sealed).keyId === (await keyring()).sealing,
  };
}

function keyringOf(rootKeys: readonly [RootKey, ...RootKey[]]): Keyring {
  const keys = new Map<string, Buffer>();
  for (const { id, bytes } of rootKeys) {
    if (!keys.has(id)) keys.set(id, Buffer.from(hkdfSync('sha256', bytes, 'engram', 'secret-box/1', 32)));
  }
  return { sealing: rootKeys[0].id, keys };
}

function partsOf(sealed: string): { readonly keyId: string; readonly bytes: Buffer } {
  const [format, keyId = '', content = '', ...rest] = sealed.split('.');
  const bytes = Buffer.from(content, 'base64url');
  // The decoder passes over what is no base64url, and over bits after the last byte.
  const isWhole = rest.length === 0 && bytes.length >= MIN_SEALED_BYTES;
  if (format !== FORMAT || !isWhole || bytes.toString('base64url') !== content) throw broken('damaged');
  return { keyId, bytes };
}

function associatedData(keyId: string, { collection, id, field }: SecretPlace): Buffer {
  return Buffer.from(JSON.stringify([FORMAT, keyId, collection, id, field]), 'utf8');
}

function broken(how: string): Error {
  return engramError('CorruptStoreError', `A stored secret cannot be opened: it is ${how}.`);
}
