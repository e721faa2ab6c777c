import type { Span } from '../../../domain/span.ts';
import type { TraceSource } from '../../../ports/tracer.ts';

/** Keeps the latest traces in memory. */
interface RecentTraces extends TraceSource {
  /** A span that is there already changes nothing. */
  add(span: Span): void;
}

interface RecentTracesOptions {
  /** Requests and runs; the oldest make room. */
  readonly maxRoots?: number;
  /** Most spans of each trace. */
  readonly maxSpans?: number;
}

export function createRecentTraces({ maxRoots = 100, maxSpans = 1000 }: RecentTracesOptions = {}): RecentTraces {
  const byRoot = new Map<string, Map<string, Span>>();
  return {
    add(span) {
      let spans = byRoot.get(span.rootId);
      if (spans === undefined) {
        if (byRoot.size >= maxRoots) byRoot.delete(byRoot.keys().next().value ?? '');
        spans = new Map();
        byRoot.set(span.rootId, spans);
      }
      if (spans.size < maxSpans || span.id === span.rootId) spans.set(span.id, span);
    },
    list(isVisible) {
      const visible = [...byRoot].flatMap(([rootId, spans]) => {
        const root = spans.get(rootId);
        // Under way still, or its end got lost.
        return root !== undefined && isVisible(root.owner) ? [{ root, spans: [...spans.values()] }] : [];
      });
      const byTrace = Map.groupBy(visible, ({ root }) => root.traceId);
      return [...byTrace]
        .flatMap(([id, parts]) => {
          const [first] = parts.map(({ root }) => root).toSorted(byStart);
          const spans = inOrder(parts.flatMap((part) => part.spans));
          return first === undefined ? [] : [{ id, root: first, spans }];
        })
        .toSorted((one, other) => byStart(one.root, other.root));
    },
  };
}

/** Sorts spans by start, and none before its parent: clocks of processes differ, and each rounds to the millisecond. */
function inOrder(spans: readonly Span[]): readonly Span[] {
  const byId = new Map(spans.map((span) => [span.id, span]));
  const placeOf = (span: Span): { readonly startMs: number; readonly depth: number } => {
    const parent = byId.get(span.parentId ?? '');
    if (parent === undefined) return { startMs: span.startMs, depth: 0 };
    const before = placeOf(parent);
    return { startMs: Math.max(span.startMs, before.startMs), depth: before.depth + 1 };
  };
  return spans
    .map((span) => ({ span, ...placeOf(span) }))
    .toSorted((one, other) => one.startMs - other.startMs || one.depth - other.depth)
    .map(({ span }) => span);
}

function byStart(one: Span, other: Span): number {
  return one.startMs - other.startMs;
}
