package dev.coatcheck.spring;

import dev.coatcheck.id.Key;
import dev.coatcheck.id.PublicId;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.web.bind.MissingServletRequestParameterException;
import org.springframework.web.bind.support.WebDataBinderFactory;
import org.springframework.web.context.request.NativeWebRequest;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.method.support.HandlerMethodArgumentResolver;
import org.springframework.web.method.support.ModelAndViewContainer;
import org.springframework.web.servlet.HandlerMapping;

/**
 * Arguments of controllers without an annotation: the path variable of their name, or else the
 * request parameter of their name. A parameter that is missing is refused with 400.
 */
final class PublicIdArguments implements HandlerMethodArgumentResolver {
  private final PublicIdConverter converter;

  PublicIdArguments(PublicIdConverter converter) {
    this.converter = converter;
  }

  @Override
  public boolean supportsParameter(MethodParameter parameter) {
    Class<?> type = parameter.getParameterType();
    return (type == PublicId.class || type == Key.class)
        && parameter.getParameterAnnotations().length == 0;
  }

  @Override
  public @Nullable Object resolveArgument(
      MethodParameter parameter,
      @Nullable ModelAndViewContainer container,
      NativeWebRequest request,
      @Nullable WebDataBinderFactory binders)
      throws Exception {
    String name = parameter.getParameterName();
    if (name == null) {
      throw new IllegalStateException("Compile controllers with -parameters.");
    }
    String text = pathVariables(request).getOrDefault(name, request.getParameter(name));
    if (text == null) {
      throw new MissingServletRequestParameterException(
          name, parameter.getParameterType().getSimpleName());
    }
    return converter.convert(
        text, TypeDescriptor.valueOf(String.class), new TypeDescriptor(parameter));
  }

  @SuppressWarnings("unchecked") // Spring's own attribute
  private static Map<String, @Nullable String> pathVariables(NativeWebRequest request) {
    Object variables =
        request.getAttribute(
            HandlerMapping.URI_TEMPLATE_VARIABLES_ATTRIBUTE, RequestAttributes.SCOPE_REQUEST);
    return variables == null ? Map.of() : (Map<String, @Nullable String>) variables;
  }
}
