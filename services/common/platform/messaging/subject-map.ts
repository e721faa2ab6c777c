import { type DescMethod, type DescService, getOption } from '@bufbuild/protobuf';
import { MethodOptions_IdempotencyLevel as Idempotency } from '@bufbuild/protobuf/wkt';
import { call } from '../../../../proto/gen/engram/options/v1/options_pb.ts';
import { replaceBetween } from '../../kernel/generated-files.ts';
import { SERVICES } from './codec.ts';

/** Its methods are every service's: their subjects name the one that is asked. */
const EVERY_SERVICE = 'system';

const DEFAULT_DEADLINE_MS = 10_000;

/** Entry of a method in the map and the method table. */
interface MethodFacts {
  /** `<service>.<Method>`: the subject without its first word. */
  readonly path: string;
  readonly service: string;
  readonly callers: readonly string[];
  readonly deadlineMs: number;
  readonly isIdempotent: boolean;
  /** See `CallOptions` in options.proto. */
  readonly permission: string;
}

export const methodFacts: readonly MethodFacts[] = Object.values<DescService>(SERVICES).flatMap(({ methods }) =>
  methods.map(factsOf),
);

function factsOf(method: DescMethod): MethodFacts {
  const service = serviceName(method.parent);
  const { callers, deadlineMs, permission } = getOption(method, call);
  return {
    path: `${service}.${method.name}`,
    service,
    callers,
    deadlineMs: deadlineMs === 0 ? DEFAULT_DEADLINE_MS : deadlineMs,
    isIdempotent: method.idempotency !== Idempotency.IDEMPOTENCY_UNKNOWN,
    permission,
  };
}

/** `auth` of `engram.auth.v1.AuthService`. */
function serviceName({ typeName }: DescService): string {
  const name = /^engram\.([a-z]+)\.v1\.\w+$/.exec(typeName)?.[1];
  if (name === undefined) throw new Error(`${typeName} is not engram.<service>.v1.<Service>`);
  return name;
}

/** The generated module that the messenger reads instead of the descriptors, which would cost every start. */
export function methodTableText(): string {
  const rows = methodFacts.map(
    ({ path, deadlineMs, permission }) => `  '${path}': { deadlineMs: ${deadlineMs}, permission: '${permission}' },`,
  );
  return `// Generated from proto/ by npm run generate.

/** Method by \`<service>.<Method>\`. */
export const METHODS = {
${rows.join('\n')}
} as const;

export type MethodPath = keyof typeof METHODS;
`;
}

/** `proto/README.md` with its map replaced. Throws when the marks are missing. */
export function replaceSubjectMap(readme: string): string {
  return replaceBetween(readme, ['<!-- subjects: generated -->', '<!-- /subjects -->'], subjectMap());
}

function subjectMap(): string {
  const rows = methodFacts.map(({ path, service, callers, deadlineMs, isIdempotent, permission }) =>
    [
      `\`engram.${service === EVERY_SERVICE ? path.replace(EVERY_SERVICE, '<service>') : path}\``,
      callers.join(', ') || 'nobody yet',
      service === EVERY_SERVICE ? 'every service' : service,
      `${deadlineMs / 1000} s`,
      isIdempotent ? 'yes' : 'no',
      permission === 'service' || permission === 'principal' ? permission : `${permission} on the dataset`,
    ].join(' | '),
  );
  return [
    '| subject | asked by | answered by | deadline | idempotent | for whom |',
    '|---|---|---|---|---|---|',
    ...rows.map((row) => `| ${row} |`),
  ].join('\n');
}
