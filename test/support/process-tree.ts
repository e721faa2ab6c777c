import { readdirSync, readFileSync } from 'node:fs';

/** Samples the resident memory of a process and its children, in bytes, until it is asked for the most. Linux only. */
export function watchTreeMemory(pid: number): () => number {
  let most = 0;
  const look = (): void => {
    most = Math.max(most, treeMemory(pid));
  };
  const timer = setInterval(look, 25);
  return () => {
    clearInterval(timer);
    look();
    return most;
  };
}

const PAGE_BYTES = 4096;

function treeMemory(root: number): number {
  const children = new Map<number, number[]>();
  const memory = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    const fields = Number.isInteger(pid) ? fieldsOf(pid) : null;
    if (fields === null) continue;
    const parent = Number(fields[1]);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
    memory.set(pid, Number(fields[21]) * PAGE_BYTES);
  }
  const sumOf = (pid: number): number =>
    (children.get(pid) ?? []).reduce((sum, child) => sum + sumOf(child), memory.get(pid) ?? 0);
  return sumOf(root);
}

/** From the state on; null: the process is gone. */
function fieldsOf(pid: number): string[] | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? null;
  } catch {
    return null;
  }
}
