// Every route of the contract (service.md 7), copied from there and not from the server: number, verb, path relative to
// /api (`M` is a memory) and required scope (P public, R read, W write, A admin).
const TABLE = `
1 POST M/add W
2 POST M/batch-add W
3 POST M/recall R
4 POST M/search R
5 GET M/grains R
6 GET M/grains/{hash} R
7 GET M/grains/{hash}/raw R
8 POST M/remember W
9 POST M/recall-chain R
10 POST M/supersede W
11 POST M/accumulate W
12 POST M/forget W
13 POST M/flush W
14 POST M/app/exec R
15 GET M/verify/latest R
16 POST M/verify/run R
17 GET M/compliance/metrics R
18 GET M/compliance/violations R
19 GET M/compliance/impact R
20 GET M/compliance/export R
21 POST M/detect-pii R
22 GET M/audit R
23 GET M/retention/status R
24 POST M/retention/enforce A
25 GET M/export/{user_id} R
26 GET /settings/ner/status R
27 POST M/consent/grant W
28 POST M/consent/revoke W
29 POST M/consent/grant-bulk W
30 GET M/consent/status R
31 GET M/provenance R
32 GET M/provenance/summary R
33 GET M/provenance/{recall_id} R
34 GET M/sessions/{sid}/bootstrap R
35 GET M/sessions/{sid}/state R
36 GET M/sessions/{sid}/goals R
37 GET M/sessions/{sid}/actions R
38 GET M/sessions/{sid}/actions/summary R
39 GET M/sessions/{sid}/actions/chain/{task} R
40 GET M/sessions/{sid}/actions/failed R
41 POST M/sessions/{sid}/goals/create W
42 PUT M/goals/{hash}/state W
43 POST M/goals/{hash}/delegate W
44 GET M/sessions/{sid}/goals/tree R
45 GET M/sessions/{sid}/goals/blocked R
46 GET M/sessions/{sid}/context R
47 POST M/sessions/{sid}/consolidate W
48 POST M/states/diff R
49 GET M/events R
50 GET M/policy R
51 PUT M/policy A
52 POST M/policy/simulate R
53 GET M/scope-tree R
54 PUT M/scope-tree A
55 DELETE M/scope-tree A
56 POST M/scope-erase A
61 POST M/authz/grant A
62 POST M/authz/revoke A
63 GET M/authz/check R
64 GET /settings/llm R
65 GET /settings/providers R
66 GET /settings/providers/{id}/models R
67 GET /models R
68 GET /settings/model-assignments R
69 PUT /settings/llm A
70 PUT /settings/providers/{id} A
71 DELETE /settings/providers/{id} A
72 POST /settings/providers/{id}/test A
73 PUT /settings/model-assignments A
74 GET /config P
75 GET /health P
76 GET /auth/keys A
77 POST /auth/keys A
78 DELETE /auth/keys/{key_id} A
79 GET /memories R
80 POST /memories A
81 GET M R
82 DELETE M A
83 GET M/stats R
84 GET M/stats/history R
85 GET M/tier-info R
86 GET M/agents/identities R
87 POST M/agents/identities W
88 GET M/agents/identities/{agent_id} R
89 POST M/agents/identities/{agent_id}/deactivate W
90 POST M/import-document W
91 POST M/extract-document R
92 POST M/import-file W
93 GET M/export-file R
94 POST M/chat/stream W
95 GET M/chat/threads R
96 POST M/chat/threads W
97 GET M/chat/threads/{thread_id} R
98 DELETE M/chat/threads/{thread_id} W
99 PATCH M/chat/threads/{thread_id} W
100 GET M/chat/threads/{thread_id}/messages R
101 POST M/imports W
102 GET M/imports R
103 GET M/imports/{job_id} R
104 GET M/imports/{job_id}/stream R
105 POST M/imports/{job_id}/cancel W
106 GET M/agents R
107 GET M/agents/{agent_id} R
108 POST M/harnesses/{slug}/chat W
109 POST M/harnesses/{slug}/chat/resume W
110 GET M/harnesses/{slug}/chat/sessions/{session_id} R
111 DELETE M/harnesses/{slug}/chat/sessions/{session_id} W
112 GET M/harnesses/{slug}/conversations R
113 GET M/harnesses/{slug}/conversations/{conversation_id} R
114 POST M/harnesses/{slug}/bind-tool W
115 GET M/harnesses/{slug}/tools R
116 POST M/harnesses/{slug}/provision W
117 GET M/harnesses R
118 POST M/harnesses W
119 GET M/harnesses/{slug} R
120 PATCH M/harnesses/{slug} W
121 DELETE M/harnesses/{slug} A
`;

export type Scope = 'read' | 'write' | 'admin';

export interface Route {
  readonly number: number;
  readonly verb: string;
  readonly path: string;
  /** Undefined for a public route. */
  readonly scope: Scope | undefined;
}

const SCOPES: Readonly<Record<string, Scope>> = { R: 'read', W: 'write', A: 'admin' };

export const ROUTES: readonly Route[] = TABLE.trim()
  .split('\n')
  .map((line) => {
    const [number = '', verb = '', path = '', letter = ''] = line.split(' ');
    return { number: Number(number), verb, path, scope: SCOPES[letter] };
  });

/** The path of a route with `M` as this memory and every parameter filled in. */
export function pathOf({ path }: Route, memory: string): string {
  return path.replace(/^M/, `/memories/${memory}`).replaceAll(/\{[a-z_]+\}/g, 'x1');
}
