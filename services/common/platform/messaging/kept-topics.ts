import type { KeptSubjects } from '../../storage/ports/bus.ts';

const MINUTE_MS = 60_000;
const MIB = 2 ** 20;

/**
 * Retention of JetStream, so that a lost connection loses nothing: longer than a connection is away, shorter than anybody
 * would wait. proto/README.md lists them.
 */
export const KEPT_SUBJECTS: readonly KeptSubjects[] = [
  { name: 'RUNS', prefix: 'engram.runs', maxAgeMs: 10 * MINUTE_MS, maxMessages: 100_000, maxBytes: 64 * MIB },
  { name: 'JOBS', prefix: 'engram.jobs', maxAgeMs: MINUTE_MS, maxMessages: 10_000, maxBytes: 4 * MIB },
  { name: 'ACCESS', prefix: 'engram.access', maxAgeMs: 10 * MINUTE_MS, maxMessages: 10_000, maxBytes: 4 * MIB },
];
