// `helm test`: every service is ready, the whole is healthy and describes itself, the default user can sign in.
const services = JSON.parse(process.env.SERVICES ?? '{}');
const { DEFAULT_USER_EMAIL: email, DEFAULT_USER_PASSWORD: password } = process.env;
// Where NetworkPolicies are enforced, a new pod may be let through only after a while.
const patientUntil = Date.now() + 30_000;
let failed = 0;

async function check(what, ask) {
  for (;;) {
    try {
      const problem = await ask();
      if (problem !== undefined) throw new Error(problem);
      process.stdout.write(`ok      ${what}\n`);
      return;
    } catch (error) {
      if (Date.now() < patientUntil) {
        await new Promise((resolve) => setTimeout(resolve, 500));
        continue;
      }
      failed += 1;
      process.stdout.write(`FAILED  ${what}: ${error.cause?.message ?? error.message}\n`);
      return;
    }
  }
}

const get = (url, init) => fetch(url, { signal: AbortSignal.timeout(10_000), ...init });
const status = async (url) => {
  const answer = await get(url);
  return answer.status === 200 ? undefined : `${answer.status} ${(await answer.text()).slice(0, 200)}`;
};

for (const [service, origin] of Object.entries(services)) {
  await check(`${service} is ready`, () => status(`${origin}/readyz`));
}
const { auth } = services;
await check('the whole is healthy', () => status(`${auth}/health`));
await check('the API is described, with all services in it', async () => {
  const { paths = {} } = await (await get(`${auth}/openapi.json`)).json();
  const missing = ['/api/v1/auth/login', '/api/v1/add', '/api/v1/cognify', '/api/v1/search'].filter(
    (path) => paths[path] === undefined,
  );
  return missing.length === 0 ? undefined : `${missing.join(', ')} are missing`;
});
await check('requests need credentials', async () => {
  const { status: code } = await get(`${auth}/api/v1/users/me`);
  return code === 401 ? undefined : `${code} in place of 401`;
});
if (password) {
  await check('the default user can sign in', async () => {
    const body = new URLSearchParams({ username: email, password });
    const answer = await get(`${auth}/api/v1/auth/login`, { method: 'POST', body });
    // The password may have been changed since the first start: then this says nothing about the service.
    return answer.status === 200 || answer.status === 400 ? undefined : `${answer.status}`;
  });
}
process.exitCode = failed === 0 ? 0 : 1;
