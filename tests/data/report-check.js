// SPDX-License-Identifier: MIT
// What tests/cli/gf-report.sh asks a browser about a page of gf-report: faults become lines of the page,
// between [ and ]. Appended to a copy of the page; the page itself has no script.
(function () {
	var faults = [], ids = {}, level = 0;
	function fault(what) { faults.push(what); }
	function all(s) { return Array.prototype.slice.call(document.querySelectorAll(s)); }
	// WCAG 2.1: relative luminance and contrast
	function parts(colour) { return (colour.match(/[\d.]+/g) || []).map(Number); }
	function light(colour) {
		var c = parts(colour).slice(0, 3).map(function (v) {
			v /= 255;
			return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4);
		});
		return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
	}
	function behind(e) {
		for (; e; e = e.parentElement) {
			var b = getComputedStyle(e).backgroundColor, p = parts(b);
			if (p.length === 3 || p[3] > 0) return b;
		}
		return 'rgb(255, 255, 255)';
	}
	document.querySelectorAll('details').forEach(function (d) { d.open = true; });
	all('[id]').forEach(function (e) {
		if (ids[e.id]) fault('id twice: ' + e.id);
		ids[e.id] = true;
	});
	all('[href]').concat(all('use')).forEach(function (e) {
		var to = e.getAttribute('href') || e.getAttribute('xlink:href') || '';
		if (to[0] !== '#') fault('leads away: ' + to);
		else if (!document.getElementById(to.slice(1))) fault('leads nowhere: ' + to);
	});
	all('span[aria-label], p[aria-label], div[aria-label]').forEach(function (e) {
		if (!e.getAttribute('role')) fault('a name that nobody says, without a role: ' + e.getAttribute('aria-label'));
	});
	all('[src], script:not([data-check]), iframe, object, embed').forEach(function (e) {
		fault('loads something: ' + e.tagName);
	});
	all('svg').forEach(function (e) {
		if (!e.getAttribute('aria-label') || e.getAttribute('role') !== 'img') fault('picture without a name');
		if (e.getBoundingClientRect().width < 100) fault('picture that is not seen');
	});
	all('h1, h2, h3, h4').forEach(function (e) {
		var n = Number(e.tagName[1]);
		if (n > level + 1) fault('heading out of order: ' + e.textContent);
		level = n;
		if (!e.textContent.trim()) fault('heading without text');
	});
	if (all('h1').length !== 1 || all('main').length !== 1) fault('one h1, one main');
	if (!document.documentElement.lang || !document.title) fault('language and title');
	all('table').forEach(function (t) {
		if (!t.caption || !t.caption.textContent.trim()) fault('table without a caption');
	});
	all('th').forEach(function (e) { if (!e.scope) fault('head without a scope: ' + e.textContent); });
	all('[role=region]').forEach(function (e) {
		if (!e.getAttribute('aria-label') || e.tabIndex !== 0) fault('region without a name, or out of reach');
	});
	all('summary, a, td, th, caption, figcaption, p, li, h1, h2, h3, code, pre').forEach(function (e) {
		if (!e.textContent.trim() || e.closest('svg') || e.className === 'skip') return;
		var a = light(getComputedStyle(e).color), b = light(behind(e));
		var ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) fault('contrast ' + ratio.toFixed(2) + ': ' + e.tagName + '.' + e.className);
	});
	if (document.documentElement.scrollWidth > window.innerWidth)
		fault('wider than the window: ' + document.documentElement.scrollWidth + ' of ' + window.innerWidth);
	var out = document.createElement('pre');
	out.textContent = '[checked ' + all('*').length + ' elements, ' + window.innerWidth + ' wide, ' +
		faults.length + ' faults]\n' + faults.map(function (f) { return '[' + f + ']'; }).join('\n');
	document.body.appendChild(out);
})();
