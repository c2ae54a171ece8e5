//! What a task finds: words, names, paths, stacks; and that no answer passes its budget.

use ratlas::report::tokens;
use ratlas::tools::tool::Desk;
use serde_json::{Value, json};

use crate::tools::{ask, desk};

/// A small product in two languages with its tests.
const PRODUCT: &[(&str, &str)] = &[
    (
        "shop/cart.py",
        "\"\"\"Carts.\"\"\"\n\n\nclass Cart:\n    def add(self, price):\n        return self.sum(price)\n\n    def sum(self, price):\n        return round_price(price)\n\n\ndef round_price(price):\n    \"\"\"Rounds a price to cents.\"\"\"\n    return round(price, 2)\n",
    ),
    (
        "shop/cookies.py",
        "def refresh_cookie(session):\n    return session.lifetime\n\n\ndef forget(session):\n    pass\n",
    ),
    (
        "shop/order.py",
        "from shop.cart import Cart\n\n\ndef place(items):\n    cart = Cart()\n    for item in items:\n        cart.add(item)\n    return cart\n",
    ),
    ("shop/__init__.py", "from shop.order import place\n"),
    (
        "tests/test_cart.py",
        "from shop.cart import Cart, round_price\n\n\ndef test_round_price():\n    assert round_price(1)\n\n\ndef test_add_price_to_cart():\n    Cart().add(1)\n",
    ),
    ("web/package.json", "{\"name\": \"web\"}"),
    ("web/src/index.ts", "export { paint } from './paint';\n"),
    (
        "web/src/paint.ts",
        "export function paint(price: number) {\n  return format(price);\n}\n\nexport function format(price: number) {\n  return `${price}`;\n}\n",
    ),
];

fn context(desk: &Desk, task: &str) -> String {
    ask(desk, "get_context", json!({ "task": task })).text()
}

/// The first file of an answer.
fn first(text: &str) -> &str {
    text.lines().skip(1).find(|line| line.contains('.') && !line.starts_with([' ', '…'])).unwrap_or_default()
}

#[test]
fn words_find_files_in_any_form() {
    let desk = desk(PRODUCT);
    assert_eq!(first(&context(&desk, "why are cookies not refreshed while sessions live?")), "shop/cookies.py");
    assert_eq!(first(&context(&desk, "rounding of prices")), "shop/cart.py");
    let text = context(&desk, "rounding of prices");
    assert!(text.lines().next().unwrap().ends_with(" | read as question"), "{text}");
}

#[test]
fn names_written_as_code_come_first_with_who_uses_them() {
    let desk = desk(PRODUCT);
    let text = context(&desk, "round_price");
    assert_eq!(first(&text), "shop/cart.py");
    assert!(text.lines().next().unwrap().ends_with(" | read as identifier"), "{text}");
    assert!(text.contains("\n 12-14 def round_price(price)\n"), "{text}");
    assert!(text.contains("used by Cart.sum:9, "), "{text}");
    let text = context(&desk, "make `forget` drop the price of Cart.sum");
    assert!(text.contains("\n 5-6 def forget(session)\n") && text.contains(" 8-9 def Cart.sum(self, price)"), "{text}");
}

#[test]
fn a_stack_points_at_its_lines() {
    let desk = desk(PRODUCT);
    let stack = "Traceback (most recent call last):\n  File \"/srv/app/shop/order.py\", line 7, in place\n    cart.add(item)\n  File \"/srv/app/shop/cookies.py\", line 2, in refresh_cookie\nAttributeError: lifetime";
    let text = context(&desk, stack);
    assert!(text.lines().next().unwrap().ends_with(" | read as stack trace"), "{text}");
    assert_eq!(first(&text), "shop/cookies.py");
    assert!(
        text.contains("\n 1-2 def refresh_cookie(session)\n") && text.contains("\n 4-8 def place(items)\n"),
        "{text}"
    );
    let text = context(
        &desk,
        "TypeError: x is undefined\n    at format (web/src/paint.ts:6:10)\n    at paint (web/src/paint.ts:2:3)",
    );
    assert_eq!(first(&text), "web/src/paint.ts");
    assert!(text.contains("\n 5-7 function format(price: number)\n"), "{text}");
    assert_eq!(first(&context(&desk, "web/src/paint.ts:2")), "web/src/paint.ts");
}

#[test]
fn tests_come_behind_unless_asked_for() {
    let desk = desk(PRODUCT);
    let place = |task: &str, path: &str| {
        let text = context(&desk, task);
        text.lines().position(|line| line == path).unwrap_or_else(|| panic!("no {path} in {text}"))
    };
    let task = "add a price to the cart";
    assert!(place(task, "shop/cart.py") < place(task, "tests/test_cart.py"));
    assert!(place(task, "shop/order.py") < place(task, "tests/test_cart.py"));
    let task = "the tests of adding a price to the cart";
    assert!(place(task, "tests/test_cart.py") < place(task, "shop/order.py"));
}

#[test]
fn what_is_in_hand_comes_first() {
    let desk = desk(PRODUCT);
    let answer = ask(&desk, "get_context", json!({ "task": "rounding of prices", "focus_files": ["shop/order.py"] }));
    assert_eq!(first(&answer.text()), "shop/order.py");
    let text = context(&desk, "zebra quagga");
    assert!(text.contains("no word of the task names anything here"), "{text}");
}

#[test]
fn a_newcomer_sees_where_things_enter_and_rest() {
    let desk = desk(PRODUCT);
    let text = ask(&desk, "repo_map", json!({})).text();
    assert!(
        text.contains("\nentry points: shop/__init__.py\n") || text.contains("entry points: web/src/index.ts"),
        "{text}"
    );
    assert!(text.contains("\nfolders, from what uses to what is used:\n"), "{text}");
    assert!(!text.contains("1 more files"), "{text}");
}

/// Numbers that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

#[test]
fn a_thousand_questions_keep_within_their_budgets() {
    let files: Vec<(String, String)> = (0..30)
        .map(|n| {
            let functions: String = (0..6)
                .map(|f| format!("def load_{n}_{f}(first: int, second: str) -> str:\n    \"\"\"Loads the cart {f}.\"\"\"\n    return load_{}_{f}(first)\n\n\n", (n + 1) % 30))
                .collect();
            (format!("package_{}/module_{n}.py", n % 7), functions)
        })
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let desk = desk(&files);
    let words =
        ["load", "cart", "the", "module", "load_3_4", "package_2/module_9.py:12", "`first`", "é", "(((", "second"];
    let mut numbers = Numbers(7);
    for n in 0..1_000 {
        // Small budgets are where a line too many shows; a few are as large as they get.
        let budget = 200 + if n % 20 == 0 { numbers.below(15_800) } else { numbers.below(1_000) };
        let task: Vec<&str> =
            (0..1 + numbers.below(6)).map(|_| words[numbers.below(words.len() as u64) as usize]).collect();
        let (name, arguments) = match n % 4 {
            0 => ("repo_map", json!({ "budget": budget })),
            _ => ("get_context", json!({ "budget": budget, "task": task.join(" ") })),
        };
        let text = ask(&desk, name, arguments).text();
        let n_tokens = tokens::count(&text) as u64;
        assert!(n_tokens <= budget, "{n_tokens} of {budget} for {task:?}: {text}");
        assert!(n_tokens * 10 >= budget * 9 || !text.contains(" more files;"), "{n_tokens} of {budget} for {task:?}");
    }
}

#[test]
fn one_question_has_one_answer() {
    let (one, other) = (desk(PRODUCT), desk(PRODUCT));
    for arguments in [json!({"task": "rounding of prices"}), json!({"task": "Cart.add", "budget": 300})] {
        let answer = |desk: &Desk| -> (String, Value) {
            let answer = ask(desk, "get_context", arguments.clone());
            (answer.text(), answer.json())
        };
        assert_eq!(answer(&one), answer(&other));
        assert_eq!(answer(&one), answer(&one));
    }
}
