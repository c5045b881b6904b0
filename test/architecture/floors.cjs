/*
 * The rooms of the folders below, the lowest floor first. A room imports from lower floors alone: the rooms of one floor
 * know nothing of each other. Files that stand beside the rooms belong to none of them.
 */
module.exports = {
  'services/gateway/src': [
    ['domain', 'json-bytes'],
    ['clients', 'rate-counters'],
    ['dialects'],
    ['problems'],
    ['operations'],
    ['events', 'http'],
    ['pages', 'relay'],
    ['jobs', 'models'],
    ['batches', 'mcp', 'webhooks'],
    ['console-server'],
  ],
  'services/tasks/src': [
    ['domain'],
    ['channels', 'clients', 'store'],
    ['operations'],
    ['rpc'],
    ['events', 'monitoring'],
    ['workers'],
  ],
  'services/tasks/src/operations': [
    ['lanes', 'operators', 'activity', 'reads', 'search', 'tracing', 'watches'],
    ['content', 'ends'],
    ['attempts', 'webhooks'],
    ['queue'],
    ['creates'],
    ['jobs', 'recovery'],
    ['attention', 'batches', 'polls'],
    ['retention'],
  ],
  'services/billing/src': [['domain'], ['store'], ['operations'], ['events', 'rpc']],
  'services/media/src': [
    ['domain'],
    ['blobs', 'probe', 'store'],
    ['fetch'],
    ['operations'],
    ['http', 'rpc', 'thumbnails'],
  ],
  'services/platform/src': [
    ['config', 'lifecycle', 'metrics', 'webhooks'],
    ['tls'],
    ['http', 'trace'],
    ['diagnosis'],
    ['sql'],
    ['bus', 'limits'],
    ['rpc'],
  ],
};
