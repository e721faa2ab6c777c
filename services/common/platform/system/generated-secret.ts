import { randomBytes } from 'node:crypto';
import { chmod, link, open, readFile, rename, rm } from 'node:fs/promises';
import { engramError } from '../../kernel/errors.ts';

const SECRET_BYTES = 32;
const MIN_LENGTH = 32;

/**
 * A secret that lives in a file of the data directory, readable by its owner alone (mode 0600): made on first use, the
 * same ever after. Two processes that start together agree on one, and a crash in between leaves no half file.
 */
export async function loadOrCreateSecret(file: string): Promise<string> {
  const existing = await loadSecret(file);
  if (existing !== null) return existing;
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(`${randomBytes(SECRET_BYTES).toString('base64url')}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await linkUnlessThere(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
  const created = await loadSecret(file);
  if (created === null) throw engramError('ServiceUnavailableError', `The secret file ${file} could not be created`);
  return created;
}

/** `link` fails when the name is taken, where `rename` would replace the secret that another process already uses. */
async function linkUnlessThere(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS') throw error;
    await rename(from, to); // a file system without hard links; the lock of the data directory keeps others out
  }
}

/** The secret of a file that was made before; null when there is none. */
export async function loadSecret(file: string): Promise<string | null> {
  let secret: string;
  try {
    secret = (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  if (secret.length < MIN_LENGTH) {
    throw engramError(
      'CorruptStoreError',
      `The secret file ${file} is damaged: it holds less than ${MIN_LENGTH} characters`,
    );
  }
  await chmod(file, 0o600); // a restored backup may have opened it up
  return secret;
}
