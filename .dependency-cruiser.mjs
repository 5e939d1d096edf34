// The order of the folders of web: a file imports from its own folder and from those before it.
const FOLDERS = ['generated', 'engine', 'state', 'charts', 'ui', 'controls', 'heads', 'chapters'];

const order = FOLDERS.slice(0, -1).map((folder, i) => ({
  name: `${folder}-below`,
  comment: `web/${folder} imports only from itself and ${FOLDERS.slice(0, i).join(', ') || 'nothing'}`,
  severity: 'error',
  from: { path: `^web/${folder}/` },
  to: { path: `^web/(main|(${FOLDERS.slice(i + 1).join('|')})/)` },
}));

export default {
  forbidden: [
    ...order,
    {
      name: 'chapters-apart',
      comment: 'a chapter imports from no other one; what they share is in web/chapters/shared',
      severity: 'error',
      from: { path: '^web/chapters/([^/]+)/' },
      to: { path: '^web/chapters/', pathNot: '^web/chapters/(shared|$1)/' },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
  ],
  options: {
    doNotFollow: { path: ['node_modules', '^web/generated'] },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
  },
};
