import { setTimeout as sleep } from 'node:timers/promises';
import { engramError } from '../../kernel/errors.ts';

// Functions for the tests of the pool.
export function echo(word: string): string {
  return `done: ${word}`;
}

export function sizeOf(_input: null, content: Buffer): { bytes: number; sum: number } {
  return { bytes: content.byteLength, sum: content.reduce((sum, byte) => sum + byte, 0) };
}

export function* count(until: number): Generator<number, string> {
  for (let number = 1; number <= until; number += 1) yield number;
  return 'counted';
}

export async function* countSlowly(until: number): AsyncGenerator<number, string> {
  for (let number = 1; number <= until; number += 1) yield await sleep(1, number);
  return 'counted';
}

export async function misbehave(how: string): Promise<string> {
  if (how === 'spin') for (;;) Math.random();
  if (how === 'exit') process.exit(7);
  if (how === 'be killed') process.kill(process.pid, 'SIGKILL');
  if (how === 'throw') throw new Error('something broke');
  if (how === 'refuse') throw engramError('DocumentParsingError', 'not today');
  if (how === 'reject') void Promise.reject(new Error('forgotten'));
  if (how === 'throw later') {
    setTimeout(() => {
      throw new Error('broke behind its back');
    });
    await sleep(60_000);
  }
  if (how === 'grow the heap') {
    const kept: unknown[] = [];
    for (;;) kept.push(Array.from({ length: 10_000 }, (_, index) => ({ index })));
  }
  if (how === 'grow beside the heap') {
    const kept: Uint8Array[] = [];
    for (;;) kept.push(new Uint8Array(1024 * 1024).fill(1));
  }
  return `done: ${how}`;
}

let kept: Uint8Array | null = null;

/** Process id, and memory that is not given back. */
export function keep(bytes: number): number {
  kept = new Uint8Array(bytes).fill(1);
  return kept.length > 0 ? process.pid : 0;
}

export function environment(_input: null): string[] {
  return Object.keys(process.env);
}
