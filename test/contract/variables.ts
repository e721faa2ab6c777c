type Variables = ReadonlyMap<string, unknown>;

/** Replaces `{{name}}` in every string and key of the value. */
export function fill<T>(value: T, variables: Variables): T {
  return filled(value, variables) as T;
}

function filled(value: unknown, variables: Variables): unknown {
  if (typeof value === 'string') return fillText(value, variables);
  if (Array.isArray(value)) return value.map((entry) => filled(entry, variables));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [String(fillText(key, variables)), filled(entry, variables)]),
  );
}

function fillText(text: string, variables: Variables): unknown {
  const whole = /^\{\{(\w+)\}\}$/.exec(text)?.[1];
  if (whole !== undefined && variables.has(whole)) return variables.get(whole);
  return text.replaceAll(/\{\{(\w+)\}\}/g, (found, name: string) => String(variables.get(name) ?? found));
}

/** `items.0.id` in a body; "" is the body. */
export function lookUp(body: unknown, path: string): unknown {
  if (path === '') return body;
  return path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], body);
}
