import { type ApiServer, connectToApiServer } from './api-server.ts';

/**
 * A suite that needs a real API server. Without `ENGRAM_TEST_KUBECONFIG` it is skipped under a name that says so, or, with
 * `ENGRAM_TEST_REQUIRE_CLUSTER=1`, fails. Namespaces that it made are removed in the end.
 */
export function describeWithCluster(title: string, suite: (server: () => ApiServer) => void): void {
  const kubeconfig = process.env['ENGRAM_TEST_KUBECONFIG'];
  if (kubeconfig !== undefined) {
    describe(title, () => {
      const api = connectToApiServer(kubeconfig);
      after(() => api.removeNamespaces());
      suite(() => api);
    });
    return;
  }
  const name = `${title}: ENGRAM_TEST_KUBECONFIG not set, see ../shared/cluster/README.md`;
  if (process.env['ENGRAM_TEST_REQUIRE_CLUSTER'] !== '1') it.skip(name);
  else
    it(name, () => {
      throw new Error('No cluster.');
    });
}
