interface Distribution {
  readonly count: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly maxMs: number;
}

export async function timed<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly ms: number }> {
  const started = performance.now();
  const result = await work();
  return { result, ms: round(performance.now() - started) };
}

/** Runs `work` for each input with `clients` at a time. */
export async function distribution<Input>(
  inputs: readonly Input[],
  clients: number,
  work: (input: Input) => Promise<unknown>,
): Promise<Distribution> {
  const times: number[] = [];
  const queue = inputs.values();
  const worker = async (): Promise<void> => {
    for (const input of queue) times.push((await timed(() => work(input))).ms);
  };
  await Promise.all(Array.from({ length: clients }, worker));
  times.sort((a, b) => a - b);
  const at = (share: number): number =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
  return { count: times.length, p50Ms: at(0.5), p95Ms: at(0.95), maxMs: at(1) };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
