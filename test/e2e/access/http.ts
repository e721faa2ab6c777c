/** A caller of the API, with or without a credential. */
export interface Caller {
  readonly name: string;
  /** Headers with the credential, if any. */
  readonly headers: Readonly<Record<string, string>>;
  send(request: ApiRequest): Promise<ApiAnswer>;
  /** Requests something that must succeed for the test. */
  need<Answer>(request: ApiRequest): Promise<Answer>;
}

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  /** A text file with its field: the form is sent as multipart. */
  readonly file?: { readonly field: string; readonly name: string; readonly text: string };
}

export interface ApiAnswer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

export function createCaller(baseUrl: string, name: string, headers: Readonly<Record<string, string>> = {}): Caller {
  const send = async ({ method, path, query = {}, json, form, file }: ApiRequest): Promise<ApiAnswer> => {
    const url = new URL(baseUrl + path);
    for (const [key, value] of Object.entries(query)) {
      for (const one of typeof value === 'string' ? [value] : value) url.searchParams.append(key, one);
    }
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: { ...headers, ...(json === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      ...(form === undefined ? {} : { body: file === undefined ? new URLSearchParams(form) : multipart(form, file) }),
    });
    return { status: response.status, text: await response.text(), headers: response.headers };
  };
  return {
    name,
    headers,
    send,
    async need<Answer>(request: ApiRequest) {
      const { status, text } = await send(request);
      if (status >= 300) throw new Error(`${name}: ${request.method} ${request.path}: ${status} ${text.slice(0, 500)}`);
      return (text === '' ? null : JSON.parse(text)) as Answer;
    },
  };
}

function multipart(form: Readonly<Record<string, string>>, file: NonNullable<ApiRequest['file']>): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries(form)) body.append(name, value);
  body.append(file.field, new Blob([file.text]), file.name);
  return body;
}
