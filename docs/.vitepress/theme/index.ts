// The default theme with the fonts of the system: no page asks another server for anything.
import theme from 'vitepress/theme-without-fonts';
import './style.css';

export default theme;
