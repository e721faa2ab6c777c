import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const CHART = fileURLToPath(new URL('../../charts/engram', import.meta.url));

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** What the program reads. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Default two minutes. */
  readonly timeoutMs?: number;
}

/** A program's outcome, also when it fails. Throws when it cannot be started or does not end. */
export function attempt(program: string, words: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const { input = '', env = {}, timeoutMs = 120_000 } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { env: { ...process.env, ...env }, timeout: timeoutMs });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (data: Buffer) => void stdout.push(data));
    child.stderr.on('data', (data: Buffer) => void stderr.push(data));
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (signal !== null) reject(new Error(`${program} ${words.join(' ')} was ended by ${signal}`));
      else {
        const text = (parts: readonly Buffer[]) => Buffer.concat(parts).toString('utf8');
        resolve({ code: code ?? 1, stdout: text(stdout), stderr: text(stderr) });
      }
    });
    child.stdin.on('error', () => {}); // it ended without reading
    child.stdin.end(input);
  });
}

/** What a program prints. Throws with what it said when it fails. */
export async function run(program: string, words: readonly string[], options: RunOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await attempt(program, words, options);
  if (code !== 0) throw new Error(`${program} ${words.join(' ')} failed (${code}): ${stderr}${stdout}`);
  return stdout;
}
