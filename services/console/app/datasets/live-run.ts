import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { address, engram } from '../api.ts';

interface Frame {
  readonly status: string;
  readonly current_stage?: string | null;
  readonly stage_index?: number | null;
  readonly stage_total?: number | null;
}

/**
 * Follows the run of a dataset over its socket: what it has reached is read again with each event, and when it ends. Returns
 * its stage. Where no socket can be had, the progress is still read each second.
 */
export function useLiveRun(dataset: string, isRunning: boolean): Frame | null {
  const client = useQueryClient();
  const [frame, setFrame] = useState<Frame | null>(null);
  const run = useQuery({
    queryKey: ['runs', dataset, 'running'],
    queryFn: async () => {
      const query = { dataset_id: dataset, pipeline_name: 'cognify_pipeline', limit: 1 };
      const [newest] = await engram.get('/api/v1/activity/pipeline-runs', { query });
      return newest?.pipeline_run_id ?? null;
    },
    enabled: isRunning,
  }).data;
  useEffect(() => {
    if (!isRunning || typeof run !== 'string') return;
    const url = new URL(address(`/cognify/subscribe/${run}`), window.location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    const socket = new WebSocket(url);
    const readAgain = () => void client.invalidateQueries({ queryKey: ['progress'] });
    socket.onmessage = ({ data }) => {
      setFrame(JSON.parse(String(data)) as Frame);
      readAgain();
    };
    socket.onclose = readAgain;
    return () => {
      socket.onclose = null;
      socket.close();
      setFrame(null);
    };
  }, [isRunning, run, client]);
  return frame;
}
