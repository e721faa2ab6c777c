import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** What `engram receipt verify` says of a receipt, good or not. `keys`: as the server gives them. */
export async function verifyReceipt(receipt: string, keys: unknown): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'engram-receipt-'));
  const [file, keysFile] = [join(folder, 'receipt.json'), join(folder, 'keys.json')];
  try {
    await writeFile(file, receipt);
    await writeFile(keysFile, JSON.stringify(keys));
    const command = ['services/cli/main.ts', 'receipt', 'verify', file, '--keys', keysFile];
    return (await promisify(execFile)(process.execPath, command)).stdout;
  } catch (error) {
    const { code, stderr } = error as { readonly code?: unknown; readonly stderr?: string };
    if (code !== 1 || stderr === undefined) throw error;
    return stderr;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
