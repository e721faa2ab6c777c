import { join } from 'node:path';
import { engramError } from '../common/kernel/errors.ts';
import type { Config } from '../common/platform/config/configuration.ts';
import type { RootKey, RootKeys } from '../common/platform/secrets/aes-gcm-secret-box.ts';
import { loadOrCreateSecret, loadSecret } from '../common/platform/system/generated-secret.ts';

export const ROOT_KEY_FILE = 'root.key';
/** Under which the key of the file seals; a configured key of this name takes its place. */
const FILE_KEY_ID = 'generated';
const KEY_BYTES = 32;

type KeySettings = Pick<Config, 'rootKeys' | 'dataDir'> & { readonly stores: Pick<Config['stores'], 'documents'> };

/**
 * The configured keys; where this process alone owns the store, also the one of its data directory, made when nothing is
 * configured. Another replica could not read a file of this one: in a cluster there is no key but a configured one.
 */
export function rootKeysOf({ rootKeys: configured, dataDir, stores }: KeySettings): RootKeys {
  const file = join(dataDir, ROOT_KEY_FILE);
  return async () => {
    if (stores.documents === 'embedded') {
      if (configured === undefined) return [fileKey(await loadOrCreateSecret(file))];
      const made = await loadSecret(file);
      return made === null ? configured : [...configured, fileKey(made)];
    }
    if (configured !== undefined) return configured;
    throw engramError(
      'ServiceUnavailableError',
      'There is no root key to seal or open secrets with: set ENGRAM_ROOT_KEYS, alike for every service.',
    );
  };
}

function fileKey(text: string): RootKey {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length === KEY_BYTES) return { id: FILE_KEY_ID, bytes };
  throw engramError(
    'CorruptStoreError',
    `The file ${ROOT_KEY_FILE} of the data directory holds ${bytes.length} bytes, not a key of ${KEY_BYTES}.`,
  );
}
